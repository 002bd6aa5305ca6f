//! The protobuf wire format: fields, each a number, a kind and a value.
//!
//! ```text
//! message = { tag value }        tag = varint of (number << 3 | kind)
//! kind    = 0 varint | 1 eight bytes | 2 length and bytes | 3 group begins | 4 group ends | 5 four bytes
//! varint  = up to ten bytes, seven bits each, lowest first; the top bit says that more follow
//! ```

use crate::scope::dump::wrong;
use crate::scope::error::DumpPlace;
use crate::scope::error::ScopeError;

/// Deeper groups are no graph dump.
const DEEPEST: usize = 100;

/// Bytes of a file and where they begin in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slice<'a> {
    pub bytes: &'a [u8],
    pub offset: usize,
}

/// The value of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// An integer, truth value or enum.
    Varint(u64),
    /// A string, bytes, message or packed list.
    Bytes(Slice<'a>),
    /// A float, a fixed-width integer, or a group: nothing we read is one.
    Other,
}

/// One occurrence of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    pub number: u64,
    pub value: Value<'a>,
    /// Where it begins in the file.
    pub offset: usize,
}

impl<'a> Field<'a> {
    pub(crate) fn place(&self) -> DumpPlace {
        DumpPlace::Offset(self.offset)
    }

    /// The value as bytes.
    pub(crate) fn bytes(&self, name: &str) -> Result<Slice<'a>, ScopeError> {
        match self.value {
            Value::Bytes(slice) => Ok(slice),
            Value::Varint(_) | Value::Other => Err(wrong(self.place(), format!("`{name}` is not a string or message"))),
        }
    }

    /// The value as text.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str, ScopeError> {
        let bytes = self.bytes(name)?.bytes;
        std::str::from_utf8(bytes).map_err(|_| wrong(self.place(), format!("`{name}` is not UTF-8 text")))
    }

    /// The value as a number; negative ones are written as their two's complement.
    pub(crate) fn integer(&self, name: &str) -> Result<i64, ScopeError> {
        match self.value {
            Value::Varint(number) => Ok(number.cast_signed()),
            Value::Bytes(_) | Value::Other => Err(wrong(self.place(), format!("`{name}` is not an integer"))),
        }
    }
}

/// All fields of a message.
pub(crate) fn fields(message: Slice<'_>) -> impl Iterator<Item = Result<Field<'_>, ScopeError>> {
    let mut reader = Reader { message, at: 0 };
    let mut failed = false;
    std::iter::from_fn(move || {
        if failed || reader.is_at_end() {
            return None;
        }
        let field = reader.field();
        failed = field.is_err();
        Some(field)
    })
}

/// The numbers of a packed list.
pub(crate) fn varints(list: Slice<'_>) -> impl Iterator<Item = Result<u64, ScopeError>> {
    let mut reader = Reader { message: list, at: 0 };
    let mut failed = false;
    std::iter::from_fn(move || {
        if failed || reader.is_at_end() {
            return None;
        }
        let number = reader.varint();
        failed = number.is_err();
        Some(number)
    })
}

struct Reader<'a> {
    message: Slice<'a>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn is_at_end(&self) -> bool {
        self.at >= self.message.bytes.len()
    }

    fn place(&self) -> DumpPlace {
        DumpPlace::Offset(self.message.offset + self.at)
    }

    fn field(&mut self) -> Result<Field<'a>, ScopeError> {
        let offset = self.message.offset + self.at;
        let (number, kind) = self.tag()?;
        let value = match kind {
            0 => Value::Varint(self.varint()?),
            1 => self.skip(8)?,
            2 => Value::Bytes(self.delimited()?),
            3 => self.group(number, DumpPlace::Offset(offset))?,
            5 => self.skip(4)?,
            _ => return Err(wrong(DumpPlace::Offset(offset), format!("there is no kind {kind} of fields"))),
        };
        Ok(Field { number, value, offset })
    }

    fn tag(&mut self) -> Result<(u64, u64), ScopeError> {
        let place = self.place();
        let tag = self.varint()?;
        let (number, kind) = (tag >> 3, tag & 7);
        if number == 0 || number >= 1 << 29 {
            return Err(wrong(place, format!("there is no field number {number}")));
        }
        Ok((number, kind))
    }

    fn varint(&mut self) -> Result<u64, ScopeError> {
        let place = self.place();
        let mut number = 0;
        for shift in (0..70).step_by(7) {
            let Some(&byte) = self.message.bytes.get(self.at) else {
                return Err(wrong(self.place(), "the file or message ends inside a number"));
            };
            self.at += 1;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has room for one bit only.
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(wrong(place, "a number has more than 64 bits"))
    }

    fn delimited(&mut self) -> Result<Slice<'a>, ScopeError> {
        let place = self.place();
        let length = self.varint()?;
        let rest = self.message.bytes.len() - self.at;
        let Some(length) = usize::try_from(length).ok().filter(|length| *length <= rest) else {
            return Err(wrong(place, format!("a value has {length} bytes, but only {rest} follow")));
        };
        let slice =
            Slice { bytes: &self.message.bytes[self.at..self.at + length], offset: self.message.offset + self.at };
        self.at += length;
        Ok(slice)
    }

    fn skip(&mut self, length: usize) -> Result<Value<'a>, ScopeError> {
        let rest = self.message.bytes.len() - self.at;
        if rest < length {
            return Err(wrong(self.place(), format!("a value has {length} bytes, but only {rest} follow")));
        }
        self.at += length;
        Ok(Value::Other)
    }

    /// A group, an old form of nested messages, up to its end.
    fn group(&mut self, number: u64, place: DumpPlace) -> Result<Value<'a>, ScopeError> {
        let mut open = vec![number];
        while let Some(&inner) = open.last() {
            if self.is_at_end() {
                return Err(wrong(place, "a group does not end"));
            }
            let at = self.place();
            match self.tag()? {
                (begun, 3) if open.len() < DEEPEST => open.push(begun),
                (_, 3) => return Err(wrong(at, "groups are nested too deeply")),
                (ended, 4) if ended == inner => drop(open.pop()),
                (_, 4) => return Err(wrong(at, "a group ends that has not begun")),
                (_, 0) => drop(self.varint()?),
                (_, 1) => drop(self.skip(8)?),
                (_, 2) => drop(self.delimited()?),
                (_, 5) => drop(self.skip(4)?),
                (_, kind) => return Err(wrong(at, format!("there is no kind {kind} of fields"))),
            }
        }
        Ok(Value::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(bytes: &[u8]) -> Result<Vec<String>, String> {
        let show = |field: Field<'_>| match field.value {
            Value::Varint(number) => format!("{}@{}={number}", field.number, field.offset),
            Value::Bytes(slice) => format!("{}@{}={:?}@{}", field.number, field.offset, slice.bytes, slice.offset),
            Value::Other => format!("{}@{}", field.number, field.offset),
        };
        fields(Slice { bytes, offset: 100 }).map(|field| field.map(show).map_err(|error| error.to_string())).collect()
    }

    #[test]
    fn every_kind_of_field() {
        let bytes = [
            0x08, 0x96, 0x01, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x1a, 2, 9, 9, 0x25, 1, 2, 3, 4, 0x2b, 0x08, 1, 0x33, 0x34,
            0x2c, 0xb0, 0x01, 1,
        ];
        let expected = ["1@100=150", "2@103", "3@112=[9, 9]@114", "4@116", "5@121", "22@127=1"];
        assert_eq!(shown(&bytes).unwrap(), expected);
        let negative = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let field = fields(Slice { bytes: &negative, offset: 0 }).next().unwrap().unwrap();
        assert_eq!(field.integer("i").unwrap(), -1);
    }

    #[test]
    fn damage_is_refused_with_its_offset() {
        for (bytes, part) in [
            (&[0x08][..], "offset 101: the file or message ends inside a number"),
            (&[0x08, 0x80], "offset 102: the file or message ends"),
            (&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02], "offset 101: a number has more than"),
            (
                &[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
                "offset 101: a number has more",
            ),
            (&[0x08, 1, 0x12, 5, 1], "offset 103: a value has 5 bytes, but only 1 follow"),
            (&[0x11, 1, 2], "offset 101: a value has 8 bytes, but only 2 follow"),
            (&[0x25, 1], "offset 101: a value has 4 bytes"),
            (&[0x00, 1], "offset 100: there is no field number 0"),
            (&[0x0e, 1], "offset 100: there is no kind 6"),
            (&[0x0c], "offset 100: there is no kind 4"),
            (&[0x08, 1, 0x2b, 0x08, 1], "offset 102: a group does not end"),
            (&[0x2b, 0x34], "offset 101: a group ends that has not begun"),
        ] {
            let error = shown(bytes).unwrap_err();
            assert!(error.contains(part), "{bytes:?}: {error}");
        }
        assert!(shown(&[0x2b; 1000]).unwrap_err().contains("too deeply"));
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = crate::scope::pb::read(&bytes);
        }
    }
}
