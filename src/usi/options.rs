//! The options: one table that says how each is named, listed and set.

use std::time::Duration;

use rsshogi_usi::{UsiCommand, UsiOption};

use super::normalize::{number, quote};
use crate::engine::GameId;
use crate::position::{Rules, Sennichite};
use crate::search::{Level, MAX_THREADS, SearchOptions};

/// What the options set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The game that is played.
    pub game: GameId,
    /// Its rules, where sites differ.
    pub rules: Rules,
    /// Whether the client will let the engine ponder.
    pub ponder: bool,
    /// The file of the network to evaluate by; `None` for what is in the program.
    pub eval_file: Option<String>,
    /// Whether to say how often such a score wins, draws and loses.
    pub show_wdl: bool,
    /// Whether the client has set whether to use large pages, and so wants to know what came of it.
    pub tell_pages: bool,
    /// How strong to play, in the client's words.
    pub strength: Strength,
    /// What the search may use and how it answers.
    pub search: SearchOptions,
}

/// The two ways in which clients set the strength.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strength {
    /// The level, 0 to 20.
    pub level: Level,
    /// Whether `elo` counts and not `level`.
    pub limited: bool,
    /// The strength on the scale of [`Level::elo`].
    pub elo: u32,
}

impl Settings {
    fn set_strength(&mut self, change: impl FnOnce(&mut Strength)) {
        change(&mut self.strength);
        let Strength { level, limited, elo } = self.strength;
        self.search.level = if limited { Level::of_elo(elo) } else { level };
    }
}

/// The options with their defaults and what they are set to.
#[derive(Clone, Debug)]
pub struct Options {
    defaults: Settings,
    settings: Settings,
}

/// An option of the table.
struct Spec {
    name: &'static str,
    /// Names that are understood as well but not listed.
    aliases: &'static [&'static str],
    kind: Kind,
}

/// How the value of an option is written, read from the settings and put into them.
enum Kind {
    Check {
        get: fn(&Settings) -> bool,
        set: fn(&mut Settings, bool),
    },
    Spin {
        min: i64,
        max: i64,
        get: fn(&Settings) -> i64,
        set: fn(&mut Settings, i64),
    },
    Combo {
        vars: fn() -> Vec<&'static str>,
        get: fn(&Settings) -> &'static str,
        set: SetWord,
    },
    /// A path; [`INTERNAL`] and an empty value are none.
    File {
        set: fn(&mut Settings, Option<String>),
    },
}

/// Takes over a word, or says what is wrong with it.
type SetWord = fn(&mut Settings, &str) -> Result<(), String>;

/// The value of a file option that names no file. Clients that send each default back must do no harm with it, and no
/// default may be empty.
const INTERNAL: &str = "<internal>";

/// Of no meaning unless a client limits the strength and names no number.
const DEFAULT_ELO: u32 = 1_900;

/// All options in the order in which they are listed.
///
/// `UCI_Variant` must not be listed, or some clients set it to `chess`. Names are single words, since others get lost on
/// the way, and there are no buttons and no empty defaults, which crash a client.
const TABLE: &[Spec] = &[
    Spec {
        name: "USI_Hash",
        aliases: &["Hash"],
        kind: Kind::Spin {
            min: 1,
            max: 65_536,
            get: |settings| settings.search.hash_mib as i64,
            set: |settings, mib| settings.search.hash_mib = mib as usize,
        },
    },
    Spec {
        name: "USI_Ponder",
        aliases: &["Ponder"],
        kind: Kind::Check { get: |settings| settings.ponder, set: |settings, ponder| settings.ponder = ponder },
    },
    Spec {
        name: "Threads",
        aliases: &["USI_Threads"],
        kind: Kind::Spin {
            min: 1,
            max: MAX_THREADS as i64,
            get: |settings| settings.search.threads as i64,
            set: |settings, threads| settings.search.threads = threads as usize,
        },
    },
    Spec {
        name: "USI_MultiPV",
        aliases: &["MultiPV"],
        kind: Kind::Spin {
            min: 1,
            max: 600,
            get: |settings| settings.search.multipv as i64,
            set: |settings, lines| settings.search.multipv = lines as usize,
        },
    },
    Spec {
        name: "Skill_Level",
        aliases: &[],
        kind: Kind::Spin {
            min: 0,
            max: 20,
            get: |settings| settings.strength.level.number().into(),
            set: |settings, level| settings.set_strength(|strength| strength.level = Level::new(level as u32)),
        },
    },
    Spec {
        name: "USI_LimitStrength",
        aliases: &["UCI_LimitStrength"],
        kind: Kind::Check {
            get: |settings| settings.strength.limited,
            set: |settings, limited| settings.set_strength(|strength| strength.limited = limited),
        },
    },
    Spec {
        name: "USI_Elo",
        aliases: &["UCI_Elo"],
        kind: Kind::Spin {
            min: Level::MIN_ELO as i64,
            max: Level::MAX_ELO as i64,
            get: |settings| settings.strength.elo.into(),
            set: |settings, elo| settings.set_strength(|strength| strength.elo = elo as u32),
        },
    },
    Spec {
        name: "Skill_Seed",
        aliases: &[],
        // Zero means another one for each move.
        kind: Kind::Spin {
            min: 0,
            max: 2_147_483_647,
            get: |settings| settings.search.level_seed.map_or(0, |seed| seed as i64),
            set: |settings, seed| settings.search.level_seed = (seed != 0).then_some(seed as u64),
        },
    },
    Spec {
        name: "USI_AnalyseMode",
        aliases: &["UCI_AnalyseMode"],
        kind: Kind::Check {
            get: |settings| settings.search.analyse,
            set: |settings, analyse| settings.search.analyse = analyse,
        },
    },
    Spec {
        name: "USI_ShowWDL",
        aliases: &["UCI_ShowWDL"],
        kind: Kind::Check { get: |settings| settings.show_wdl, set: |settings, show| settings.show_wdl = show },
    },
    Spec {
        name: "USI_Variant",
        aliases: &["UCI_Variant"],
        kind: Kind::Combo {
            vars: || GameId::ALL.iter().map(|game| game.name()).collect(),
            get: |settings| settings.game.name(),
            set: |settings, word| match word.parse() {
                Ok(game) => {
                    settings.game = game;
                    Ok(())
                }
                Err(_) => Err(format!("unknown game {}, still {}", quote(word), settings.game)),
            },
        },
    },
    Spec {
        name: "Sennichite",
        aliases: &[],
        kind: Kind::Combo {
            vars: || Sennichite::ALL.map(Sennichite::name).to_vec(),
            get: |settings| settings.rules.sennichite.name(),
            set: |settings, word| match word.parse() {
                Ok(sennichite) => {
                    settings.rules.sennichite = sennichite;
                    Ok(())
                }
                Err(_) => Err(format!("unknown repetition rule {}, still {}", quote(word), settings.rules.sennichite)),
            },
        },
    },
    Spec {
        name: "MaxMovesToDraw",
        aliases: &[],
        kind: Kind::Spin {
            min: 0,
            max: 100_000,
            get: |settings| i64::from(settings.rules.max_moves),
            set: |settings, plies| settings.rules.max_moves = plies as u32,
        },
    },
    Spec { name: "EvalFile", aliases: &[], kind: Kind::File { set: |settings, path| settings.eval_file = path } },
    Spec {
        name: "LargePages",
        aliases: &[],
        kind: Kind::Check {
            get: |settings| settings.search.large_pages,
            set: |settings, large| (settings.search.large_pages, settings.tell_pages) = (large, true),
        },
    },
    Spec {
        name: "Move_Overhead",
        aliases: &[],
        kind: Kind::Spin {
            min: 0,
            max: 60_000,
            get: |settings| settings.search.move_overhead.as_millis() as i64,
            set: |settings, ms| settings.search.move_overhead = Duration::from_millis(ms as u64),
        },
    },
    Spec {
        name: "ResignValue",
        aliases: &[],
        // Zero means never; so does what lies beyond all scores, as other engines have it.
        kind: Kind::Spin {
            min: 0,
            max: 99_999,
            get: |settings| settings.search.resign_value.map_or(0, i64::from),
            set: |settings, value| settings.search.resign_value = (value != 0).then_some(value as i32),
        },
    },
];

/// Options that clients set without having been offered them. They change nothing and need no comment.
const IGNORED: &[&str] = &["syzygyPath"];

/// Names compare without case, and with a blank, an underscore or nothing between their parts.
fn same_name(a: &str, b: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = char> + '_ {
        name.chars().filter(|c| !matches!(c, ' ' | '_')).map(|c| c.to_ascii_lowercase())
    }
    letters(a).eq(letters(b))
}

/// Whether a value is what stands for none.
fn is_empty(value: &str) -> bool {
    matches!(value, "" | "<empty>")
}

fn truth(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "1" | "on" => Some(true),
        "false" | "0" | "off" => Some(false),
        _ => None,
    }
}

impl Spec {
    fn is_named(&self, name: &str) -> bool {
        same_name(self.name, name) || self.aliases.iter().any(|alias| same_name(alias, name))
    }

    fn listing(&self, defaults: &Settings) -> UsiOption {
        match &self.kind {
            Kind::Check { get, .. } => UsiOption::check(self.name, get(defaults)),
            Kind::Spin { min, max, get, .. } => UsiOption::spin(self.name, get(defaults), *min, *max),
            Kind::Combo { vars, get, .. } => {
                let default = get(defaults);
                let mut vars = vars();
                // Through UCI2WB XBoard takes the first choice for the default, and sets it.
                vars.sort_by_key(|&var| var != default);
                UsiOption::combo(self.name, default, vars)
            }
            Kind::File { .. } => UsiOption::filename(self.name, INTERNAL),
        }
    }

    /// Sets the option; returns what there is to say about it.
    fn apply(&self, settings: &mut Settings, value: &str) -> Option<String> {
        let name = self.name;
        match &self.kind {
            Kind::Check { set, .. } => match truth(value) {
                Some(value) => set(settings, value),
                None => return Some(format!("{name} is true or false, ignoring {}", quote(value))),
            },
            Kind::Spin { min, max, set, .. } => {
                let Some(given) = number(value) else {
                    return Some(format!("{name} is a number, ignoring {}", quote(value)));
                };
                let clamped = given.clamp(*min, *max);
                set(settings, clamped);
                if clamped != given {
                    return Some(format!("{name} {given} is out of range, using {clamped}"));
                }
            }
            Kind::Combo { set, .. } => return set(settings, value).err(),
            Kind::File { set } => set(settings, (!is_empty(value) && value != INTERNAL).then(|| value.to_owned())),
        }
        None
    }
}

impl Options {
    /// All options at their defaults, with that game as the default one.
    pub fn new(game: GameId) -> Self {
        let (rules, search) = (Rules::default(), SearchOptions::default());
        let strength = Strength { level: search.level, limited: false, elo: DEFAULT_ELO };
        let (ponder, eval_file, show_wdl, tell_pages) = (false, None, false, false);
        let settings = Settings { game, rules, ponder, eval_file, show_wdl, tell_pages, strength, search };
        Self { defaults: settings.clone(), settings }
    }

    /// What the options are set to.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The lines that list the options.
    pub fn listing(&self) -> impl Iterator<Item = UsiCommand> + '_ {
        let table = TABLE.iter().map(|spec| UsiCommand::Option(spec.listing(&self.defaults)));
        #[cfg(feature = "tune")]
        let table = table.chain(parameters::listing());
        table
    }

    /// Sets an option. Returns what there is to say about it, if it was not simply done.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Option<String> {
        #[cfg(feature = "tune")]
        if let Some(said) = parameters::set(name, value.unwrap_or("")) {
            return said;
        }
        let Some(spec) = TABLE.iter().find(|spec| spec.is_named(name)) else {
            let known = IGNORED.iter().any(|ignored| same_name(ignored, name));
            return (!known).then(|| format!("no such option {}", quote(name)));
        };
        let value = value.unwrap_or_default();
        if is_empty(value) && !matches!(spec.kind, Kind::File { .. }) {
            return Some(format!("{} needs a value", spec.name));
        }
        spec.apply(&mut self.settings, value)
    }
}

/// The numbers and techniques of the search as options.
#[cfg(feature = "tune")]
mod parameters {
    use super::*;
    use crate::search::params::{self, Parameter};
    use crate::search::techniques;

    pub(super) fn listing() -> impl Iterator<Item = UsiCommand> {
        let numbers = params::TABLE.iter().map(|parameter| {
            let Parameter { name, default, min, max, .. } = parameter;
            UsiOption::spin(*name, i64::from(*default), i64::from(*min), i64::from(*max))
        });
        let switches = techniques::TABLE.iter().map(|technique| UsiOption::check(technique.name, true));
        numbers.chain(switches).map(UsiCommand::Option)
    }

    /// Sets the option if it is one of these, and returns what there is to say about it.
    pub(super) fn set(name: &str, value: &str) -> Option<Option<String>> {
        if let Some(parameter) = params::TABLE.iter().find(|parameter| same_name(parameter.name, name)) {
            return Some(set_number(parameter, value));
        }
        let technique = techniques::TABLE.iter().find(|technique| same_name(technique.name, name))?;
        let Some(used) = truth(value) else {
            return Some(Some(format!("{} is true or false, ignoring {}", technique.name, quote(value))));
        };
        technique.set(used);
        Some(None)
    }

    fn set_number(parameter: &Parameter, value: &str) -> Option<String> {
        let Some(given) = number(value) else {
            return Some(format!("{} is a number, ignoring {}", parameter.name, quote(value)));
        };
        let clamped = given.clamp(parameter.min.into(), parameter.max.into());
        parameter.set(clamped as i32);
        (clamped != given).then(|| format!("{} {given} is out of range, using {clamped}", parameter.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsshogi_usi::format_command;

    fn options() -> Options {
        Options::new(GameId::Minishogi)
    }

    /// Sets an option that needs no comment.
    fn set(options: &mut Options, name: &str, value: &str) {
        assert_eq!(options.set(name, Some(value)), None, "{name} {value}");
    }

    #[test]
    fn listing() {
        // With the feature `tune` the numbers and techniques of the search follow.
        let options = options();
        let listing = options.listing().take(TABLE.len());
        let lines: Vec<String> = listing.map(|command| format_command(&command)).collect();
        assert_eq!(
            lines,
            [
                "option name USI_Hash type spin default 64 min 1 max 65536",
                "option name USI_Ponder type check default false",
                "option name Threads type spin default 1 min 1 max 512",
                "option name USI_MultiPV type spin default 1 min 1 max 600",
                "option name Skill_Level type spin default 20 min 0 max 20",
                "option name USI_LimitStrength type check default false",
                "option name USI_Elo type spin default 1900 min 800 max 3000",
                "option name Skill_Seed type spin default 0 min 0 max 2147483647",
                "option name USI_AnalyseMode type check default false",
                "option name USI_ShowWDL type check default false",
                "option name USI_Variant type combo default minishogi var minishogi var shogi",
                "option name Sennichite type combo default sente-loses var sente-loses var draw var attacker-deviates",
                "option name MaxMovesToDraw type spin default 0 min 0 max 100000",
                "option name EvalFile type filename default <internal>",
                "option name LargePages type check default true",
                "option name Move_Overhead type spin default 30 min 0 max 60000",
                "option name ResignValue type spin default 0 min 0 max 99999",
            ]
        );
    }

    #[test]
    fn the_default_game_is_listed_as_such_even_after_a_change() {
        let mut options = Options::new(GameId::Shogi);
        set(&mut options, "USI_Variant", "minishogi");
        let mut lines = options.listing().map(|command| format_command(&command));
        let line = lines.find(|line| line.starts_with("option name USI_Variant "));
        // One client looks for exactly this beginning.
        assert_eq!(line.as_deref(), Some("option name USI_Variant type combo default shogi var shogi var minishogi"));
    }

    #[test]
    fn names_compare_loosely() {
        let mut options = options();
        for (index, name) in ["USI_Hash", "usi_hash", "USI Hash", "Hash", "hash", "USIHASH"].into_iter().enumerate() {
            set(&mut options, name, &(index + 10).to_string());
            assert_eq!(options.settings().search.hash_mib, index + 10, "{name}");
        }
        for (index, name) in ["Move_Overhead", "Move Overhead", "move overhead"].into_iter().enumerate() {
            set(&mut options, name, &index.to_string());
            assert_eq!(options.settings().search.move_overhead, Duration::from_millis(index as u64));
        }
    }

    #[test]
    fn spins_are_clamped_and_said() {
        for (name, value, said) in [
            ("USI_Hash", "-5", "USI_Hash -5 is out of range, using 1"),
            ("USI_Hash", "99999999999999999999", "USI_Hash 9223372036854775807 is out of range, using 65536"),
            ("MultiPV", "0", "USI_MultiPV 0 is out of range, using 1"),
            ("Threads", "100000", "Threads 100000 is out of range, using 512"),
            ("USI_Hash", "abc", "USI_Hash is a number, ignoring 'abc'"),
            ("Threads", "1 2", "Threads is a number, ignoring '1 2'"),
        ] {
            assert_eq!(options().set(name, Some(value)).as_deref(), Some(said));
        }
        let mut options = options();
        set(&mut options, "USI_Hash", "1e3");
        assert_eq!(options.settings().search.hash_mib, 1000);
        assert_eq!(options.set("USI_Hash", Some("abc")).is_some(), options.settings().search.hash_mib == 1000);
    }

    #[test]
    fn checks_take_what_clients_send() {
        let mut options = options();
        for (value, expected) in
            [("true", true), ("false", false), ("1", true), ("0", false), ("True", true), ("False", false)]
        {
            set(&mut options, "USI_Ponder", value);
            assert_eq!(options.settings().ponder, expected);
        }
        assert!(options.set("Ponder", Some("perhaps")).is_some());
    }

    #[test]
    fn missing_values_are_said() {
        for value in [None, Some(""), Some("<empty>")] {
            for name in ["USI_Hash", "USI_Ponder", "USI_Variant", "Sennichite"] {
                let mut options = options();
                assert!(options.set(name, value).is_some_and(|said| said.ends_with("needs a value")));
                assert_eq!(options.settings(), &options.defaults);
            }
        }
    }

    #[test]
    fn no_file_is_the_default_and_can_be_said_in_any_way() {
        for none in [None, Some(""), Some("<empty>"), Some("<internal>")] {
            let mut options = options();
            set(&mut options, "EvalFile", "a folder/net 1.knnue");
            assert_eq!(options.settings().eval_file.as_deref(), Some("a folder/net 1.knnue"));
            assert_eq!(options.set("evalfile", none), None);
            assert_eq!(options.settings(), &options.defaults);
        }
    }

    #[test]
    fn games_go_by_many_names() {
        let mut options = options();
        for (value, expected) in [
            ("shogi", GameId::Shogi),
            ("mini", GameId::Minishogi),
            ("9x9", GameId::Shogi),
            ("5x5+5_shogi", GameId::Minishogi),
            ("SHOGI", GameId::Shogi),
            ("MiniShogi", GameId::Minishogi),
        ] {
            set(&mut options, "UCI_Variant", value);
            assert_eq!(options.settings().game, expected);
        }
        let said = options.set("UCI_Variant", Some("chess")).unwrap_or_default();
        assert_eq!(said, "unknown game 'chess', still minishogi");
        assert!(!said.starts_with("variant"));
    }

    #[test]
    fn rules_are_set_by_word_and_number() {
        let mut options = options();
        set(&mut options, "Sennichite", "Attacker-Deviates");
        set(&mut options, "MaxMovesToDraw", "300");
        assert_eq!(options.settings().rules, Rules { sennichite: Sennichite::AttackerDeviates, max_moves: 300 });
        assert!(options.set("Sennichite", Some("whatever")).is_some());
    }

    #[test]
    fn resignation_is_off_unless_asked_for() {
        let mut options = options();
        assert_eq!(options.settings().search.resign_value, None);
        set(&mut options, "ResignValue", "1500");
        assert_eq!(options.settings().search.resign_value, Some(1500));
        set(&mut options, "ResignValue", "0");
        assert_eq!(options.settings().search.resign_value, None);
    }

    #[test]
    fn the_strength_is_set_by_level_or_by_elo() {
        let mut options = options();
        let level = |options: &Options| options.settings().search.level.number();
        assert_eq!(level(&options), 20);
        set(&mut options, "Skill_Level", "7");
        set(&mut options, "USI_Elo", "1400");
        assert_eq!(level(&options), 7);
        set(&mut options, "UCI_LimitStrength", "true");
        assert_eq!(level(&options), Level::of_elo(1_400).number());
        set(&mut options, "USI_Elo", "800");
        assert_eq!(level(&options), 0);
        set(&mut options, "USI_LimitStrength", "false");
        assert_eq!(level(&options), 7);
        // As lishoginet's weakest level and other engines' scales have it.
        assert!(options.set("Skill Level", Some("-4")).is_some_and(|notice| notice.ends_with("using 0")));
        set(&mut options, "SkillLevel", "20");
        assert_eq!(options.settings().search, SearchOptions::default());
    }

    #[test]
    fn undeclared_options_of_real_clients_are_no_surprise() {
        assert_eq!(options().set("syzygyPath", Some("x")), None);
        assert_eq!(options().set("No Such Option", Some("a b c")).as_deref(), Some("no such option 'No Such Option'"));
        assert_eq!(options().set("", Some("3")).as_deref(), Some("no such option ''"));
    }

    #[test]
    fn names_are_unambiguous() {
        let names: Vec<&str> = TABLE
            .iter()
            .flat_map(|spec| spec.aliases.iter().copied().chain([spec.name]))
            .chain(IGNORED.iter().copied())
            .collect();
        for (index, name) in names.iter().enumerate() {
            assert!(!names[..index].iter().any(|other| same_name(name, other)), "{name}");
        }
    }
}
