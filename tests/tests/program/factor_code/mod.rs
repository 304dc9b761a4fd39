//! `ktd factor-code`: models are asked for factor functions, which are judged in the box; killed, continued, replayed,
//! reported. What needs a box is passed over with a word where there is none.

mod bad_input;
mod compared;
mod judged;
mod programs;
mod real_stock;
mod records;
mod runs;
mod sampled;
mod scene;
