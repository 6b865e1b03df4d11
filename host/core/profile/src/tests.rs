//! Reading profiles: inheritance, rejected input, and line numbers in messages.

use divvy_spanned::FieldPath;

use super::{
    BUILT_IN, CostConfiguration, ProfileConfiguration, ProfileError, ProfileSource, WhenNoClusterFits, built_in_profile,
};

fn source(text: &str) -> ProfileSource {
    ProfileSource::parse("some/profile.toml".into(), text)
}

fn refused(text: &str) -> (String, Option<String>) {
    let error = source(text).profiles().expect_err("the profile is refused");
    let hint = match &error {
        ProfileError::Invalid { problems } => problems[0].hint.clone(),
        _ => error.hint(),
    };
    (error.to_string(), hint)
}

#[test]
fn the_built_in_profile_reads_and_prints_as_itself() {
    let profile = built_in_profile().expect("the built-in profile is sound");
    assert_eq!(profile.name, "default");
    assert!(profile.assign.as_ref().is_some_and(|plugins| !plugins.is_empty()));
    let printed = source(&profile.to_toml().expect("it is TOML")).profile(None);
    assert_eq!(printed.expect("what is printed reads back"), profile);
}

#[test]
fn a_profile_that_toml_lacks_a_value_for_is_an_error_and_not_an_empty_text() {
    let mut profile = built_in_profile().expect("the built-in profile is sound");
    let table = profile.plugin.entry("tree".to_owned()).or_default();
    table.configuration.insert("limit".to_owned(), serde_json::Value::Null);
    let error = profile.to_toml().expect_err("TOML has no null");
    assert_eq!(error.to_string(), "profile `default` cannot be written as TOML");
}

#[test]
fn a_profile_says_only_what_differs_from_the_one_it_extends() {
    let text = "[[profile]]\nname = 'a'\nextends = 'default'\nseed = 7\nplugin-directories = ['p']\n\
                [profile.plugin.aggregated.configuration]\nfill = 'pack'\n\
                [[profile]]\nname = 'b'\nextends = 'a'\nselect = 'mine'\n";
    let profile = source(text).profile(Some("b")).expect("it reads");
    assert_eq!(profile.seed, Some(7));
    assert_eq!(profile.select, Some(vec!["mine".to_owned()]));
    let built_in = built_in_profile().expect("the built-in profile is sound");
    assert!(built_in.filters.is_some());
    assert_eq!(profile.filters, built_in.filters);
    let configuration = profile.configuration_of("aggregated");
    assert_eq!(configuration, serde_json::json!({ "fill": "pack" }));
    assert_eq!(profile.plugin_directories, [std::path::Path::new("some/p")]);
}

#[test]
fn costs_are_inherited_key_by_key() {
    let text = "[[profile]]\nname = 'a'\nextends = 'default'\n\
                [profile.cost]\ntable = 'prices'\nunit = 'EUR'\ncpu-hour = 'cpu'\n\
                [[profile]]\nname = 'b'\nextends = 'a'\n[profile.cost]\nunit = 'USD'\ngpu-resource = 'amd.com/gpu'\n\
                [[profile]]\nname = 'c'\nextends = 'b'\n";
    let profile = source(text).profile(Some("c")).expect("it reads");
    let expected = CostConfiguration {
        table: Some("prices".to_owned()),
        unit: Some("USD".to_owned()),
        cpu_hour: Some("cpu".to_owned()),
        gpu_resource: Some("amd.com/gpu".to_owned()),
        ..CostConfiguration::default()
    };
    assert_eq!(profile.cost, Some(expected));
    assert_eq!(built_in_profile().expect("the built-in profile is sound").cost, None);
}

#[test]
fn a_burst_has_two_to_a_thousand_bindings_and_is_inherited_key_by_key() {
    let text = "[[profile]]\nname = 'a'\nextends = 'default'\n[profile.jointly]\nwaiting = 2\nat-most = 1000\n\
                [[profile]]\nname = 'b'\nextends = 'a'\n[profile.jointly]\nwaiting = 30\n";
    let jointly = source(text).profile(Some("b")).expect("it reads").jointly;
    let jointly = jointly.expect("it is inherited");
    assert_eq!((jointly.waiting(), jointly.at_most()), (30, 1000));
    assert_eq!(built_in_profile().expect("the built-in profile is sound").jointly, None);
    for count in ["1", "1001", "-3"] {
        for key in ["waiting", "at-most"] {
            let text = format!("[[profile]]\nname = 'a'\nextends = 'default'\n[profile.jointly]\n{key} = {count}\n");
            let (message, _) = refused(&text);
            let expected = format!("expected a number of bindings from 2 to 1000, got the number `{count}`");
            assert!(message.contains(&expected), "{message}");
        }
    }
}

/// The built-in profiles say that a result is removed, but they move nothing in steps.
#[test]
fn a_profile_with_a_pace_keeps_what_no_cluster_fits_whatever_it_extends() {
    let paced = |base: &str, lines: &str| {
        let text = format!(
            "[[profile]]\nname = 'a'\nextends = '{base}'\n{lines}[profile.moves]\npace = 'surge'\n\
             [[profile]]\nname = 'b'\nextends = 'a'\nseed = 7\n\
             [[profile]]\nname = 'plain'\nextends = '{base}'\n"
        );
        let clearing = |name| source(&text).profile(Some(name)).expect("it reads").clearing();
        [clearing("a"), clearing("b"), clearing("plain")]
    };
    use WhenNoClusterFits::{Clear, ClearByFirstGroup, Keep};
    assert_eq!(paced("default", ""), [Keep, Keep, Clear]);
    assert_eq!(paced("karmada", ""), [Keep, Keep, ClearByFirstGroup]);
    let stated = "when-no-cluster-fits = 'clear'\n";
    assert_eq!(paced("default", stated), [Clear, Clear, Clear]);
}

#[test]
fn every_built_in_profile_reads_and_can_be_extended() {
    for built_in in &BUILT_IN {
        let profile = ProfileSource::from_built_in(built_in).profile(None).expect("it reads");
        assert_eq!(profile.name, built_in.name);
        let text = format!("[[profile]]\nname = 'mine'\nextends = '{}'\n", built_in.name);
        let mine = source(&text).profile(None).expect("it reads");
        assert_eq!(
            mine,
            ProfileConfiguration {
                name: "mine".to_owned(),
                ..profile
            }
        );
    }
    let alpha = ProfileSource::from_built_in(&BUILT_IN[2])
        .profile(None)
        .expect("it reads");
    let karmada = ProfileSource::from_built_in(&BUILT_IN[1])
        .profile(None)
        .expect("it reads");
    assert_eq!(alpha.plugin, karmada.plugin);
    assert_eq!(
        (karmada.multiple_pod_templates, alpha.multiple_pod_templates),
        (Some(false), Some(true))
    );
    // A profile of the same file comes before a built-in one of its name.
    let text = "[[profile]]\nname = 'karmada'\nseed = 9\n[[profile]]\nname = 'mine'\nextends = 'karmada'\n";
    let mine = source(text).profile(Some("mine")).expect("it reads");
    assert_eq!((mine.seed, mine.filters), (Some(9), None));
}

#[test]
fn unknown_keys_are_named_with_path_line_and_nearest_key() {
    let hint = "did you mean `plugin-directories`?";
    assert_eq!(
        refused("[[profile]]\nname = 'a'\nplugin-directory = ['x']\n"),
        (
            "some/profile.toml:3: profile[0]: unknown key `plugin-directory`".into(),
            Some(hint.into())
        )
    );
    let hint = refused("[[profiles]]\nname = 'a'\n").1;
    assert_eq!(hint.as_deref(), Some("did you mean `profile`?"));
}

/// Profiles of builds before the first release have it.
#[test]
fn the_key_of_an_artifact_is_refused_with_its_replacement() {
    let text = "[[profile]]\nname = 'a'\n[profile.plugin.x]\nartifact = 'r.example/x:1@sha256:00'\n";
    let (message, hint) = refused(text);
    assert_eq!(
        message,
        "some/profile.toml:4: profile[0].plugin.x: unknown key `artifact`"
    );
    assert!(
        hint.as_deref()
            .is_some_and(|hint| hint.contains("`path`") && hint.contains("docs/plugins/images.md")),
        "{hint:?}"
    );
    // A plugin's own configuration can have such a key, and another table has its usual hint.
    let (_, hint) = refused("[[profile]]\nname = 'a'\nartifact = 'x'\n");
    assert!(!hint.unwrap_or_default().contains("image"));
}

#[test]
fn wrong_values_are_refused_with_their_line() {
    // A written `\n` is a line break.
    let cases = r#"
         => : no `[[profile]]` table
        [[profile]] => :1: profile[0]: missing key `name`
        [[profile]]\nname = '' => :2: profile[0].name: a profile needs a name
        [[profile]]\nname = 3 => :2: profile[0].name: expected a string, got the number `3`
        [[profile]]\nname = 'a'\nseed = -1 => :3: profile[0].seed: expected a whole number from 0 to 18446744073709551615, got the number `-1`
        [[profile]]\nname = 'a'\nscores = [{ plugin = 'x', weight = 99999999 }] => :3: profile[0].scores[0].weight: expected a weight from 0 to 1000000, got the number `99999999`
        [[profile]]\nname = 'a'\n\nscores = [\n{ plugin = 'x' },\n{ plugin = 'y', wieght = 2 },\n] => :6: profile[0].scores[1]: unknown key `wieght`
        [[profile]]\nname = 'a'\nseed = 99999999999999999999999 => :3: profile[0].seed: expected a whole number from -9223372036854775808 to 9223372036854775807, got `99999999999999999999999`
        [[profile]]\nname = 'a'\n[profile.plugin.x]\nsha256 = 'abc' => :4: profile[0].plugin.x.sha256: expected 64 hexadecimal digits, got the string "abc"
        [[profile]]\nname = 'a'\n[[profile]]\nname = 'a' => :4: a second profile `a`
        [[profile]]\nname = 'a'\nextends = 'b' => :3: extends `b`, which is neither above it nor built in
    "#;
    for case in cases.trim().lines() {
        let (text, message) = case.split_once("=> ").expect("a case has an arrow");
        let found = refused(&text.trim().replace(r"\n", "\n")).0;
        assert_eq!(found, format!("some/profile.toml{message}"), "{text}");
    }
    assert!(refused("[[profile]\n").0.starts_with("some/profile.toml:1: "));
}

#[test]
fn every_problem_of_a_file_is_listed() {
    let text = "[[profile]]\nname = 'a'\nseed = 'x'\n[profile.plugin.x]\nsha256 = 'abc'\npth = 'y'\n\
                [[profile]]\nname = 3\naffinity-groups = 'tier'\n";
    let expected = "\
some/profile.toml:3: profile[0].seed: expected a whole number from 0 to 18446744073709551615, got the string \"x\"
some/profile.toml:5: profile[0].plugin.x.sha256: expected 64 hexadecimal digits, got the string \"abc\"
some/profile.toml:6: profile[0].plugin.x: unknown key `pth`
some/profile.toml:8: profile[1].name: expected a string, got the number `3`
some/profile.toml:9: profile[1].affinity-groups: unknown value `tier`";
    assert_eq!(refused(text).0, expected);
    let text = "[[profile]]\nname = 'a'\nextends = 'aa'\n[[profile]]\nname = 'a'\nextends = 'b'\n";
    let expected = "\
some/profile.toml:3: extends `aa`, which is neither above it nor built in
some/profile.toml:5: a second profile `a`
some/profile.toml:6: extends `b`, which is neither above it nor built in";
    assert_eq!(refused(text).0, expected);
    let text = "[[profile]]\nname = \nseed = \n";
    assert_eq!(refused(text).0.matches("not valid TOML: ").count(), 2);
}

#[test]
fn a_place_is_the_line_of_a_key_or_of_what_is_around_it() {
    let source = source("[[profile]]\nname = 'a'\n\n[[profile]]\nname = 'b'\nfilters = ['x',\n'y']\n");
    for (profile, key, line) in [
        ("b", "filters[1]", 7),
        ("b", "filters[2]", 6),
        ("b", "plugin.x", 4),
        ("a", "filters[0]", 1),
        ("c", "filters", 1),
    ] {
        let location = source.location(profile, &FieldPath::dotted(key));
        assert_eq!(location, format!("some/profile.toml:{line}"), "{profile} {key}");
    }
}

#[test]
fn a_profile_that_is_not_there_is_named_with_the_nearest() {
    let error = source("[[profile]]\nname = 'production'\n")
        .profile(Some("prodution"))
        .expect_err("there is none");
    assert!(matches!(error, ProfileError::NoSuchProfile { .. }));
    assert_eq!(error.hint().as_deref(), Some("did you mean `production`?"));
}

#[test]
fn one_selector_is_a_name_and_several_are_a_list() {
    let read = |lines: &str| source(&format!("[[profile]]\nname = 'a'\n{lines}\n")).profile(None);
    for (written, names, printed) in [
        ("select = 'a'", vec!["a"], "select = \"a\""),
        ("select = ['a']", vec!["a"], "select = \"a\""),
        (
            "select = ['a', 'b']",
            vec!["a", "b"],
            "select = [\n    \"a\",\n    \"b\",\n]",
        ),
        ("select = []", vec![], "select = []"),
    ] {
        let profile = read(written).expect("it reads");
        assert_eq!(profile.select, Some(names.into_iter().map(str::to_owned).collect()));
        let toml = profile.to_toml().expect("it is TOML");
        assert!(toml.contains(printed), "{toml}");
        assert_eq!(
            source(&toml).profile(None).expect("what is printed reads back"),
            profile
        );
    }
    let error = read("select = 7").expect_err("it is neither").to_string();
    assert!(error.contains("the name of a plugin, or a list of names"), "{error}");
}

/// The filters of the profile `mine`, which extends one with the filters `a`, `b` and `c`.
fn merged_filters(written: &str) -> Vec<String> {
    let text = format!(
        "[[profile]]\nname = 'base'\nfilters = ['a', 'b', 'c']\n\
         [[profile]]\nname = 'mine'\nextends = 'base'\nfilters = {written}\n"
    );
    let profile = source(&text).profile(Some("mine")).expect("it reads");
    profile.filters.expect("it has filters")
}

#[test]
fn inherited_entries_stand_where_the_list_says() {
    for (written, expected) in [
        ("['...']", "a b c"),
        ("['...', 'x']", "a b c x"),
        ("['x', '...', 'y']", "x a b c y"),
        ("['...', '!b']", "a c"),
        ("['!b', '!a', 'x', '...']", "x c"),
        // An entry that names an inherited one keeps its position.
        ("['c', '...', 'a']", "a b c"),
        // Removed and named: moved.
        ("['c', '!c', '...']", "c a b"),
        // Without the mark, the list replaces the inherited one.
        ("['x']", "x"),
        ("[]", ""),
    ] {
        assert_eq!(merged_filters(written).join(" "), expected, "{written}");
    }
}

#[test]
fn inherited_scores_are_replaced_in_place() {
    let text = "[[profile]]\nname = 'base'\nscores = ['a', { plugin = 'b', weight = 2 }]\n\
                [[profile]]\nname = 'mine'\nextends = 'base'\nscores = ['...', { plugin = 'c' }, { plugin = 'a', weight = 9 }]\n";
    let profile = source(text).profile(Some("mine")).expect("it reads");
    let scores = profile.scores.expect("it has scores");
    let scores: Vec<(&str, i64)> = scores
        .iter()
        .map(|entry| (entry.plugin.as_str(), entry.weight))
        .collect();
    assert_eq!(scores, [("a", 9), ("b", 2), ("c", 1)]);
}

#[test]
fn a_list_can_inherit_over_several_profiles() {
    let text = "[[profile]]\nname = 'a'\nextends = 'default'\nselect = ['...', 'one']\nassign = ['!average', '...']\n\
                [[profile]]\nname = 'b'\nextends = 'a'\nselect = ['zero', '...']\nassign = ['...', 'mine']\n";
    let profile = source(text).profile(Some("b")).expect("it reads");
    assert_eq!(
        profile.select.expect("it has selectors"),
        ["zero", "spread-constraints", "one"]
    );
    let assign = profile.assign.expect("it has strategies");
    assert!(!assign.contains(&"average".to_owned()) && assign.contains(&"specified".to_owned()));
    assert_eq!(assign.last().map(String::as_str), Some("mine"));
}

#[test]
fn marks_that_mean_nothing_are_refused() {
    let base = "[[profile]]\nname = 'base'\nfilters = ['spread', 'taint']\n[[profile]]\nname = 'mine'\n";
    for (written, message, hint) in [
        (
            "filters = ['x',\n'...']",
            ":7: `...` stands for inherited entries, but the profile extends none",
            "add `extends = \"default\"`",
        ),
        (
            "filters = ['!x']",
            ":6: `!x` removes an inherited entry, but the profile extends none",
            "leave it out",
        ),
        (
            "extends = 'base'\nfilters = ['...', '...']",
            ":7: a second `...`",
            "leave one of them out",
        ),
        (
            "extends = 'base'\nfilters = ['!taint']",
            ":7: `!taint` removes an inherited entry, but this list inherits none",
            "add `\"...\"` where the inherited entries go",
        ),
        (
            "extends = 'base'\nfilters = ['...', '!tain']",
            ":7: `!tain` removes an entry that is not inherited",
            "did you mean `taint`?",
        ),
    ] {
        let found = refused(&format!("{base}{written}\n"));
        assert_eq!(
            found,
            (format!("some/profile.toml{message}"), Some(hint.to_owned())),
            "{written}"
        );
    }
}

#[test]
fn an_entry_is_found_where_it_is_written() {
    let text = "[[profile]]\nname = 'a'\nextends = 'default'\nfilters = ['one',\n'...',\n'two']\n\
                [[profile]]\nname = 'b'\nextends = 'a'\nfilters = ['three',\n'...']\n";
    let source = source(text);
    let filters = source
        .profile(Some("b"))
        .expect("it reads")
        .filters
        .expect("it has filters");
    let location = |name: &str| {
        let index = filters.iter().position(|filter| filter == name).expect("it is listed");
        source.location("b", &FieldPath::dotted("filters").index(index))
    };
    assert_eq!(location("one"), "some/profile.toml:4");
    assert_eq!(location("two"), "some/profile.toml:6");
    assert_eq!(location("three"), "some/profile.toml:10");
    // Built in: the list that inherits it.
    assert_eq!(location("cluster-affinity"), "some/profile.toml:10");
    let origin = source.origin("b", "filters", 2).expect("there is one");
    assert_eq!(
        (origin.profile.as_str(), origin.is_built_in, origin.index),
        ("default", true, 0)
    );
}

#[test]
fn marks_of_a_profile_that_extends_an_unknown_one_are_not_entries() {
    let text = "[[profile]]\nname = 'mine'\nextends = 'defualt'\nfilters = ['...', '!x', 'own']\n";
    let (profiles, error) = source(text).readable_profiles();
    let error = error.expect("the profile is refused").to_string();
    assert!(error.contains("extends `defualt`, which is neither"), "{error}");
    assert_eq!(profiles[0].filters.as_deref(), Some(&["own".to_owned()][..]));
}
