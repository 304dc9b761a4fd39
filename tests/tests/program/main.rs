//! What the program does as a whole: episodes, commands, kills, agents outside it, certificates, boards and pages.

mod attackers;
mod bad_input;
mod branch_command;
mod budget;
mod canaries;
mod certify;
mod crash_points;
mod data_commands;
mod demo_command;
mod episodes;
mod kill_resume;
mod leaderboard;
mod one_writer;
mod open_questions;
mod own_agents;
mod page;
mod plan_command;
mod qlib_simulate;
mod real_panel;
mod reasons;
mod replay_steps;
mod retry_lost;
mod synthetic_panel;
mod tools;
mod wire_requests;
