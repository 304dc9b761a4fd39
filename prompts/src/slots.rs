//! What fills the templates: payloads alone, one struct for the slots of one kind of message.

use crate::template::{Slots, slots};
use ktd_masking::Payload;

slots! {
    /// The settings a system message speaks of. Nothing here depends on a mask, a seed or a day, so that a vendor's
    /// prompt cache holds over a whole run.
    SystemSlots {
        /// Cash before the first day, CNY.
        initial_cash_cny,
        /// Names each factor contributes to the table of `fixed-candidate`.
        candidates_per_factor,
        /// Tool calls a step.
        max_tool_calls,
        /// Names a screen returns at most.
        max_candidates,
        /// Days of bars a snapshot returns at most.
        max_lookback,
        /// Names a comparison takes at most.
        max_compare,
        /// Largest weight of one name after a buy.
        max_single_weight,
        /// Most names held.
        max_positions,
        /// Which opens are at the price limit, by the rule that the exchange fills by.
        price_limits,
        /// What pays for the buys of an open, and how much of a day's volume an order may be.
        open_terms,
        /// What a trade costs.
        fees,
        /// Least length of a reason, characters.
        min_reason_chars,
        /// Orders in one list at most.
        max_orders,
        /// How often a malformed list may be sent again.
        schema_retries,
        /// What becomes of orders that break a rule known at decision.
        constraint_policy,
    }
}

slots! {
    /// One step's message, which ends with the state as one line of JSON.
    UserStepSlots {
        /// The state, which names the step, the as-of day and the trading day.
        state,
    }
}

slots! {
    /// Which attempt at a submission failed, of how many.
    AttemptSlots {
        /// The attempt that failed, 1-based.
        attempt,
        /// Attempts in all.
        attempts,
    }
}

slots! {
    /// More than one call in one reply.
    TwoCallsSlots {
        /// Calls in the reply.
        calls,
        /// The attempt that failed, 1-based.
        attempt,
        /// Attempts in all.
        attempts,
    }
}

slots! {
    /// A submission that breaks the required form.
    SchemaSlots {
        /// Structured feedback of the parser.
        errors,
        /// The attempt that failed, 1-based.
        attempt,
        /// Attempts in all.
        attempts,
    }
}

slots! {
    /// A submission of the right form with orders that the rules reject.
    RejectedSlots {
        /// Structured feedback of the checks at decision.
        decisions,
        /// The attempt that failed, 1-based.
        attempt,
        /// Attempts in all.
        attempts,
    }
}

slots! {
    /// A tool call beyond the budget.
    ToolBudgetSlots {
        /// Tool calls a step.
        max_tool_calls,
    }
}

slots! {
    /// A submission asked for without a tool call.
    ForceSlots {
        /// JSON Schema of the arguments of `submit_action`.
        action_schema,
    }
}

slots! {
    /// A submission that is not JSON. The feedback says where it stops being JSON and not what stands there: the model has it.
    NotJsonSlots {
        /// The line at which reading stopped, 1-based.
        line,
        /// The column at which reading stopped, 1-based.
        column,
        /// The attempt that failed, 1-based.
        attempt,
        /// Attempts in all.
        attempts,
    }
}

slots! {
    /// A submission beyond the limits that hold before anything is parsed.
    TooLargeSlots {
        /// Longest text of the arguments, bytes.
        max_bytes,
        /// Deepest nesting of the arguments.
        max_depth,
        /// Orders in one list at most.
        max_orders,
        /// The attempt that failed, 1-based.
        attempt,
        /// Attempts in all.
        attempts,
    }
}

slots! {
    /// The question which stock and which day an exhibit shows.
    StockSlots {
        /// The stock in question, as the exhibit shows it.
        target,
        /// The exhibit.
        exhibit,
    }
}

slots! {
    /// The question whether two exhibits show the same stock.
    LinkedSlots {
        /// The first exhibit's stock in question.
        first_target,
        /// The first exhibit.
        first,
        /// The second exhibit's stock in question.
        second_target,
        /// The second exhibit.
        second,
    }
}

slots! {
    /// An answer of an attacker that breaks the required form.
    ProblemSlots {
        /// What is wrong, in the harness's own words.
        problem,
        /// The attempt that failed, 1-based.
        attempt,
        /// Attempts in all.
        attempts,
    }
}

slots! {
    /// The fields that formulas may read.
    OperatorSlots {
        /// Their names.
        fields,
    }
}

slots! {
    /// Formulas for a judge.
    FormulasSlots {
        /// The lowest score.
        lowest,
        /// The formulas with their indices.
        formulas,
    }
}

slots! {
    /// The rules of a search for formulas.
    MinerRulesSlots {
        /// The returns that formulas are to predict.
        label,
        /// Nodes of a formula, at most.
        max_nodes,
    }
}

slots! {
    /// A round of a search for formulas.
    MinerRoundSlots {
        /// The round, 1-based.
        round,
        /// Rounds in all.
        rounds,
        /// Formulas tried so far.
        tried,
        /// The best formulas so far, with figures of train days.
        best,
        /// The last formulas, with the code and the fix of those that were refused.
        last,
        /// How many formulas are asked for.
        asked,
    }
}

slots! {
    /// A tool that answers.
    ToolSlots {
        /// Its name.
        tool,
    }
}

slots! {
    /// A template without slots.
    NoSlots {}
}
