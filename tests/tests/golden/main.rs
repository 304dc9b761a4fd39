//! What independent implementations and real services gave, against what `ktd` gives. A test's path names the set that
//! it compares with: `golden::SET::...`.

/// One module a set, named as the set's folder is.
#[path = "."]
mod golden {
    mod alpha_qt;
    mod alphaeval;
    mod attribution;
    mod expressions;
    mod ktd;
    mod leakage;
    mod providers;
    mod qlib;
    mod sandbox;
    mod systradebench;
}
