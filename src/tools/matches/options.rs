//! The options an engine lists, and what is set of them.

use rsshogi_usi::{UsiCommand, UsiOption, UsiOptionKind, format_command, parse_line};
use thiserror::Error;

use crate::position::Rules;

/// An option that cannot be set as asked.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum OptionError {
    /// The engine lists no such option.
    #[error("it has no option '{name}'; it lists {listed}")]
    Unknown {
        /// As asked for.
        name: String,
        /// All listed names.
        listed: String,
    },
    /// The option does not take the value.
    #[error("its option {name} does not take '{value}': {expected}")]
    Value {
        /// The option.
        name: String,
        /// As asked for.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// The match itself says it, to all engines alike.
    #[error("option {name} is set by --variant, --sennichite and --max-plies, for all engines alike")]
    OfTheMatch {
        /// The option.
        name: String,
    },
    /// The engine names its games, and the match's is not among them.
    #[error("it does not play {game}: its option {option} offers {offered}")]
    Game {
        /// The match's game.
        game: String,
        /// The option that names games.
        option: String,
        /// The values it offers.
        offered: String,
    },
}

/// Reads an `option` line, also where the line leaves out what it should have.
pub fn read_option(line: &str) -> Option<UsiOption> {
    let parse = |line: &str| match parse_line(line) {
        Ok(UsiCommand::Option(option)) => Some(option),
        _ => None,
    };
    // Many engines end the line behind `default` for an empty string; failing all else, name and type are enough.
    parse(line).or_else(|| parse(&format!("{} <empty>", line.trim_end()))).or_else(|| {
        let (head, tail) = line.split_once(" type ")?;
        parse(&format!("{head} type {}", tail.split_whitespace().next()?))
    })
}

/// What a match asks of every engine.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The name of the game.
    pub game: &'a str,
    /// The rules that the referee applies.
    pub rules: Rules,
    /// Whether the engine shall think on its opponent's time.
    pub ponder: bool,
    /// What the user asked for.
    pub options: &'a [(String, String)],
}

/// The `setoption` lines to send, in order: game, rules and pondering as far as the engine lists options for them, then
/// the user's.
///
/// # Errors
/// If a listed option does not take what the user or the match needs, or the user names one that is not listed.
pub fn commands(listed: &[UsiOption], wanted: &Wanted<'_>) -> Result<Vec<String>, OptionError> {
    let mut lines = Vec::new();
    let set = |name: &str, value: Option<&str>| {
        format_command(&UsiCommand::SetOption { name: name.to_owned(), value: value.map(str::to_owned) })
    };
    let by_user = |option: &UsiOption| wanted.options.iter().any(|(name, _)| same_name(name, &option.name));

    if let Some(option) = ["USI_Variant", "UCI_Variant"].iter().find_map(|name| find(listed, name)) {
        lines.push(set(&option.name, Some(game_value(option, wanted.game)?)));
    }
    let max_moves = wanted.rules.max_moves.to_string();
    let own = [("Sennichite", wanted.rules.sennichite.name()), ("MaxMovesToDraw", max_moves.as_str())];
    for (name, value) in own {
        if let Some(option) = find(listed, name).filter(|option| check(option, value).is_ok()) {
            lines.push(set(&option.name, Some(value)));
        }
    }
    if let Some(option) =
        ["USI_Ponder", "Ponder"].iter().find_map(|name| find(listed, name)).filter(|option| !by_user(option))
    {
        lines.push(set(&option.name, Some(if wanted.ponder { "true" } else { "false" })));
    }
    for (name, value) in wanted.options {
        if let Some(taken) = ["USI_Variant", "UCI_Variant", "Sennichite", "MaxMovesToDraw"]
            .into_iter()
            .find(|taken| same_name(taken, name))
        {
            return Err(OptionError::OfTheMatch { name: taken.to_owned() });
        }
        match find(listed, name) {
            Some(option) if option.kind == UsiOptionKind::Button => lines.push(set(&option.name, None)),
            Some(option) => {
                check(option, value)?;
                lines.push(set(&option.name, Some(value)));
            }
            // USI lets a client set these two even if they are not listed.
            None if ["USI_Hash", "USI_Ponder"].contains(&name.as_str()) => lines.push(set(name, Some(value))),
            None => {
                let listed = listed.iter().map(|option| option.name.as_str()).collect::<Vec<_>>().join(", ");
                let listed = if listed.is_empty() { "none".to_owned() } else { listed };
                return Err(OptionError::Unknown { name: name.clone(), listed });
            }
        }
    }
    Ok(lines)
}

/// Names are compared without case, and a blank is as good as an underscore.
fn same_name(a: &str, b: &str) -> bool {
    let plain = |name: &str| name.replace(' ', "_").to_lowercase();
    plain(a) == plain(b)
}

fn find<'a>(listed: &'a [UsiOption], name: &str) -> Option<&'a UsiOption> {
    listed
        .iter()
        .find(|option| option.name == name)
        .or_else(|| listed.iter().find(|option| same_name(&option.name, name)))
}

/// How the engine itself spells the game.
fn game_value<'a>(option: &'a UsiOption, game: &'a str) -> Result<&'a str, OptionError> {
    if option.vars.is_empty() {
        return Ok(game);
    }
    option.vars.iter().find(|value| value.eq_ignore_ascii_case(game)).map(String::as_str).ok_or_else(|| {
        OptionError::Game { game: game.to_owned(), option: option.name.clone(), offered: option.vars.join(", ") }
    })
}

fn check(option: &UsiOption, value: &str) -> Result<(), OptionError> {
    let refuse =
        |expected: String| Err(OptionError::Value { name: option.name.clone(), value: value.to_owned(), expected });
    match option.kind {
        UsiOptionKind::Check if !["true", "false"].contains(&value) => refuse("it takes true or false".to_owned()),
        UsiOptionKind::Spin => {
            let (min, max) = (option.min.unwrap_or(i64::MIN), option.max.unwrap_or(i64::MAX));
            match value.parse::<i64>() {
                Ok(number) if (min..=max).contains(&number) => Ok(()),
                _ => refuse(format!("it takes a whole number from {min} to {max}")),
            }
        }
        UsiOptionKind::Combo if !option.vars.is_empty() && !option.vars.iter().any(|other| other == value) => {
            refuse(format!("it takes one of {}", option.vars.join(", ")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KOZUKA: &[&str] = &[
        "option name USI_Variant type combo default minishogi var minishogi var shogi",
        "option name USI_Ponder type check default false",
        "option name USI_Hash type spin default 16 min 1 max 65536",
        "option name Sennichite type combo default sente-loses var sente-loses var draw var attacker-deviates",
        "option name MaxMovesToDraw type spin default 0 min 0 max 100000",
    ];
    const FAIRY: &[&str] = &[
        "option name UCI_Variant type combo default shogi var minishogi var shogi",
        "option name Ponder type check default false",
        "option name Debug Log File type string default ",
        "option name Clear Hash type button",
        "option name Skill Level type spin default 20 min -20 max 20",
    ];

    fn lines(listed: &[&str], options: &[(&str, &str)]) -> Result<Vec<String>, OptionError> {
        let listed: Vec<_> = listed.iter().map(|line| read_option(line).expect(line)).collect();
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let rules = Rules { max_moves: 300, ..Rules::default() };
        commands(&listed, &Wanted { game: "minishogi", rules, ponder: false, options: &options })
    }

    #[test]
    fn the_game_is_set_through_whichever_option_is_listed() {
        let own = lines(KOZUKA, &[]).expect("valid");
        assert_eq!(own[0], "setoption name USI_Variant value minishogi");
        assert!(own.contains(&"setoption name MaxMovesToDraw value 300".to_owned()));
        assert!(own.contains(&"setoption name Sennichite value sente-loses".to_owned()));
        let fairy = lines(FAIRY, &[]).expect("valid");
        assert_eq!(fairy, ["setoption name UCI_Variant value minishogi", "setoption name Ponder value false"]);
        assert_eq!(lines(&[], &[]), Ok(vec![]));
    }

    #[test]
    fn a_game_that_is_not_offered_is_an_error() {
        let error =
            lines(&["option name UCI_Variant type combo default chess var chess"], &[]).expect_err("no minishogi");
        assert_eq!(error.to_string(), "it does not play minishogi: its option UCI_Variant offers chess");
    }

    #[test]
    fn the_users_options_are_checked() {
        let set = lines(FAIRY, &[("skill_level", "5"), ("Clear Hash", "")]).expect("valid");
        assert!(set.contains(&"setoption name Skill Level value 5".to_owned()));
        assert!(set.contains(&"setoption name Clear Hash".to_owned()));
        for (name, value, part) in
            [("Skill Level", "21", "-20 to 20"), ("Ponder", "yes", "true or false"), ("Threds", "2", "it lists")]
        {
            let error = lines(FAIRY, &[(name, value)]).expect_err("must be refused").to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn game_and_rules_belong_to_the_match() {
        // An engine that plays by other rules than the referee's loses for reasons that are not its own.
        for (name, value) in [("MaxMovesToDraw", "0"), ("Sennichite", "draw"), ("usi_variant", "shogi")] {
            let error = lines(KOZUKA, &[(name, value)]).expect_err("must be refused");
            assert!(matches!(error, OptionError::OfTheMatch { .. }), "{error}");
        }
    }

    #[test]
    fn sloppy_option_lines_are_read() {
        let option = read_option("option name SyzygyPath type string default ").expect("readable");
        assert_eq!((option.name.as_str(), option.kind), ("SyzygyPath", UsiOptionKind::String));
        assert!(read_option("option name X type spin default many min 1").is_some());
        assert!(read_option("option without a name").is_none());
    }
}
