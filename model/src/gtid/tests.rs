#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const A: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
const B: &str = "ffffffff-0000-1111-2222-333333333333";

/// The same set by the book: one entry a transaction.
type Plain = BTreeSet<(Uuid, String, u64)>;

fn plain(set: &MysqlGtidSet) -> Plain {
    set.iter()
        .flat_map(|(uuid, tag, i)| i.iter().flat_map(move |(s, e)| (*s..=*e).map(move |n| (uuid, tag.to_owned(), n))))
        .collect()
}

fn set() -> impl Strategy<Value = MysqlGtidSet> {
    let range = (0..2usize, prop_oneof![Just(""), Just("tag"), Just("Other")], 1..40u64, 0..6u64);
    prop::collection::vec(range, 0..25).prop_map(|ranges| {
        let mut set = MysqlGtidSet::default();
        for (uuid, tag, start, length) in ranges {
            set.add_range([A, B][uuid].parse().unwrap(), tag, start, start + length);
        }
        set
    })
}

proptest! {
    #[test]
    fn the_algebra_is_that_of_plain_sets(a in set(), b in set()) {
        let (pa, pb) = (plain(&a), plain(&b));
        let mut union = a.clone();
        union.union(&b);
        prop_assert_eq!(plain(&union), pa.union(&pb).cloned().collect::<Plain>());
        prop_assert_eq!(plain(&a.subtract(&b)), pa.difference(&pb).cloned().collect::<Plain>());
        prop_assert_eq!(a.contains_all(&b), pb.is_subset(&pa));
        prop_assert!(union.contains_all(&a) && union.contains_all(&b));
    }

    #[test]
    fn ranges_are_sorted_apart_and_survive_their_text(a in set()) {
        for (_, _, ranges) in a.iter() {
            for pair in ranges.windows(2) {
                prop_assert!(pair[0].1 + 1 < pair[1].0, "{:?}", ranges);
            }
        }
        prop_assert_eq!(a.to_string().parse::<MysqlGtidSet>().unwrap(), a);
    }

    #[test]
    fn no_text_panics(text in ".{0,80}", near in "[0-9a-f:,-]{0,90}") {
        let _ = text.parse::<GtidSet>();
        let _ = near.parse::<GtidSet>();
    }
}

#[test]
fn texts_of_servers_are_read() {
    // MySQL wraps long sets, gives upper case, and tags since 8.3.
    let text = format!("{}:1-5:7,\n{B}:1:mytag:3-4:9", A.to_uppercase());
    let set: MysqlGtidSet = text.parse().unwrap();
    assert!(set.contains(A.parse().unwrap(), "", 7) && !set.contains(A.parse().unwrap(), "", 6));
    assert!(set.contains(B.parse().unwrap(), "mytag", 4) && !set.contains(B.parse().unwrap(), "", 4));
    assert_eq!(set.to_string(), format!("{A}:1-5:7,{B}:1:mytag:3-4:9"));
    let maria: GtidSet = "0-1-42,7-2-9".parse().unwrap();
    assert_eq!(maria, GtidSet::Mariadb("7-2-9,0-1-42".parse().unwrap()));
    assert!(maria.contains_all(&"0-9-41".parse().unwrap()) && !maria.contains_all(&"1-1-1".parse().unwrap()));
}

#[test]
fn a_hole_stays_a_hole() {
    let mut set: MysqlGtidSet = format!("{A}:1-100:110-120").parse().unwrap();
    set.add(A.parse().unwrap(), "", 121);
    assert_eq!(set.to_string(), format!("{A}:1-100:110-121"));
    set.add(A.parse().unwrap(), "", 101);
    assert_eq!(set.to_string(), format!("{A}:1-101:110-121"));
}

#[test]
fn what_is_no_set_is_refused() {
    for text in
        ["x:1", &format!("{A}:0"), &format!("{A}:5-1"), &format!("{A}:1-"), &format!("{A}:a b"), "1-2", "0-1-2-3"]
    {
        assert!(text.parse::<GtidSet>().is_err(), "{text}");
    }
}
