//! Geometries: from MySQL's SRID and WKB to the JSON text that Flink CDC delivers.

use super::cursor::Cursor;
use super::decode_error::ValueError;
use super::json_number::write_coordinate;
use std::io::Write;

/// More nested collections than anybody has.
const MAX_DEPTH: usize = 100;

/// The type numbers of WKB.
mod kind {
    pub(super) const POINT: u32 = 1;
    pub(super) const LINE_STRING: u32 = 2;
    pub(super) const POLYGON: u32 = 3;
    pub(super) const MULTI_POINT: u32 = 4;
    pub(super) const MULTI_LINE_STRING: u32 = 5;
    pub(super) const MULTI_POLYGON: u32 = 6;
    pub(super) const COLLECTION: u32 = 7;
}

/// Appends `{"coordinates":[1,2],"type":"Point","srid":0}`, or for a collection
/// `{"geometries":[…],"type":"GeometryCollection","srid":0}`. Geometries within a collection have their type first.
pub(crate) fn write(bytes: &[u8], to: &mut Vec<u8>) -> Result<(), ValueError> {
    let mut c = Cursor::new(bytes);
    let srid = c.u32()?;
    let mut reader = Reader { c, big_endian: false };
    let kind = reader.head()?;
    let (member, name) = names(kind)?;
    // Writing to a vector can't fail.
    let _ = write!(to, "{{\"{member}\":");
    reader.content(kind, 0, to)?;
    let _ = write!(to, ",\"type\":\"{name}\",\"srid\":{srid}}}");
    Ok(())
}

fn names(kind: u32) -> Result<(&'static str, &'static str), ValueError> {
    Ok(match kind {
        kind::POINT => ("coordinates", "Point"),
        kind::LINE_STRING => ("coordinates", "LineString"),
        kind::POLYGON => ("coordinates", "Polygon"),
        kind::MULTI_POINT => ("coordinates", "MultiPoint"),
        kind::MULTI_LINE_STRING => ("coordinates", "MultiLineString"),
        kind::MULTI_POLYGON => ("coordinates", "MultiPolygon"),
        kind::COLLECTION => ("geometries", "GeometryCollection"),
        _ => return Err(ValueError::Malformed("an unknown type of geometry")),
    })
}

struct Reader<'a> {
    c: Cursor<'a>,
    big_endian: bool,
}

impl Reader<'_> {
    /// Byte order and type.
    fn head(&mut self) -> Result<u32, ValueError> {
        self.big_endian = match self.c.u8()? {
            0 => true,
            1 => false,
            _ => return Err(ValueError::Malformed("an unknown byte order of a geometry")),
        };
        self.u32()
    }

    fn u32(&mut self) -> Result<u32, ValueError> {
        let n = self.c.u32()?;
        Ok(if self.big_endian { n.swap_bytes() } else { n })
    }

    fn f64(&mut self) -> Result<f64, ValueError> {
        let bits = self.c.u64()?;
        Ok(f64::from_bits(if self.big_endian { bits.swap_bytes() } else { bits }))
    }

    fn point(&mut self, to: &mut Vec<u8>) -> Result<(), ValueError> {
        let (x, y) = (self.f64()?, self.f64()?);
        if !(x.is_finite() && y.is_finite()) {
            return Err(ValueError::Malformed("a coordinate is not a number"));
        }
        to.push(b'[');
        write_coordinate(x, to);
        to.push(b',');
        write_coordinate(y, to);
        to.push(b']');
        Ok(())
    }

    /// A number, then so many parts.
    fn list(
        &mut self,
        to: &mut Vec<u8>,
        mut part: impl FnMut(&mut Self, &mut Vec<u8>) -> Result<(), ValueError>,
    ) -> Result<(), ValueError> {
        to.push(b'[');
        for i in 0..self.u32()? {
            if i > 0 {
                to.push(b',');
            }
            part(self, to)?;
        }
        to.push(b']');
        Ok(())
    }

    fn content(&mut self, kind: u32, depth: usize, to: &mut Vec<u8>) -> Result<(), ValueError> {
        if depth > MAX_DEPTH {
            return Err(ValueError::Malformed("a geometry is nested deeper than 100"));
        }
        match kind {
            kind::POINT => self.point(to),
            kind::LINE_STRING => self.list(to, Self::point),
            kind::POLYGON => self.list(to, |r, to| r.list(to, Self::point)),
            kind::MULTI_POINT | kind::MULTI_LINE_STRING | kind::MULTI_POLYGON => {
                let part = kind - kind::MULTI_POINT + kind::POINT;
                self.list(to, |r, to| {
                    if r.head()? == part {
                        r.content(part, depth + 1, to)
                    } else {
                        Err(ValueError::Malformed("a part of a geometry has another type than the whole"))
                    }
                })
            }
            kind::COLLECTION => self.list(to, |r, to| {
                let kind = r.head()?;
                let (member, name) = names(kind)?;
                let _ = write!(to, "{{\"type\":\"{name}\",\"{member}\":");
                r.content(kind, depth + 1, to)?;
                to.push(b'}');
                Ok(())
            }),
            _ => Err(ValueError::Malformed("an unknown type of geometry")),
        }
    }
}

#[cfg(test)]
mod tests;
