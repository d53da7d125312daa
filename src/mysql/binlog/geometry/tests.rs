#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

fn head(kind: u32) -> Vec<u8> {
    [&[1][..], &kind.to_le_bytes()].concat()
}

fn points(points: &[(f64, f64)]) -> Vec<u8> {
    points.iter().flat_map(|(x, y)| [x.to_le_bytes(), y.to_le_bytes()].concat()).collect()
}

fn count(n: u32) -> Vec<u8> {
    n.to_le_bytes().to_vec()
}

fn text(parts: &[Vec<u8>]) -> Result<String, ValueError> {
    let bytes = [vec![count(0)], parts.to_vec()].concat().concat();
    let mut text = Vec::new();
    write(&bytes, &mut text).map(|()| String::from_utf8(text).unwrap())
}

/// What Flink CDC prints for the same geometries (recorded).
#[test]
fn geometries_are_written_as_recorded() {
    let point = |x, y| [head(1), points(&[(x, y)])].concat();
    assert_eq!(text(&[point(1.0, 2.0)]).unwrap(), r#"{"coordinates":[1,2],"type":"Point","srid":0}"#);
    assert_eq!(
        text(&[head(2), count(2), points(&[(3.0, 0.0), (3.0, 3.0)])]).unwrap(),
        r#"{"coordinates":[[3,0],[3,3]],"type":"LineString","srid":0}"#
    );
    assert_eq!(
        text(&[head(3), count(1), count(4), points(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)])]).unwrap(),
        r#"{"coordinates":[[[0,0],[1,0],[1,1],[0,0]]],"type":"Polygon","srid":0}"#
    );
    assert_eq!(
        text(&[head(4), count(2), point(1.0, 1.0), point(2.0, 2.0)]).unwrap(),
        r#"{"coordinates":[[1,1],[2,2]],"type":"MultiPoint","srid":0}"#
    );
    assert_eq!(
        text(&[head(7), count(2), point(10.0, 10.0), point(30.0, 30.0)]).unwrap(),
        "{\"geometries\":[{\"type\":\"Point\",\"coordinates\":[10,10]},{\"type\":\"Point\",\"coordinates\":[30,30]}],\
         \"type\":\"GeometryCollection\",\"srid\":0}"
    );
}

#[test]
fn damaged_geometries_are_refused() {
    assert_eq!(text(&[head(1)]), Err(ValueError::Truncated));
    assert_eq!(text(&[head(8)]), Err(ValueError::Malformed("an unknown type of geometry")));
    assert!(text(&[head(1), points(&[(f64::NAN, 0.0)])]).is_err());
    let endless: Vec<_> = (0..200).flat_map(|_| [head(7), count(1)]).collect();
    assert_eq!(text(&endless), Err(ValueError::Malformed("a geometry is nested deeper than 100")));
}
