//! The network: its shape, its weights in integers, and its file.
//!
//! ```text
//! features of the side to move ─ WIDTH ─┐ clamp to 0..=1, square ─ OUTPUT_BUCKETS outputs, of which the
//! features of the other side   ─ WIDTH ─┘                          hands choose one
//! ```
//!
//! Both sides share the first layer's weights ("NNUE", Yu Nasu, 2018); squared clipped activations and outputs by
//! bucket are common practice in chess networks.
//!
//! The file, all numbers little-endian: a header of 64 bytes, then the weights of the first layer by feature, its
//! biases, the weights of the outputs (side to move first), and their biases.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use thiserror::Error;

use super::features::Features;
use crate::types::{Color, Score};
use crate::variant::Variant;

/// Neurons of the first layer, for each side.
pub const WIDTH: usize = 256;
/// Outputs, of which one is used.
pub const OUTPUT_BUCKETS: usize = 8;
/// 1.0 as an activation or a weight of the first layer.
pub const ACTIVATION_ONE: i16 = 255;
/// Bits that the square of an activation loses to fit, times a weight, into 32 bits.
pub const SQUARE_SHIFT: u32 = 6;
/// 1.0 as a weight of the outputs.
pub const OUTPUT_ONE: i16 = 1_024;
/// The largest weight of the outputs: with it, no sum of all squared activations overflows.
pub const OUTPUT_LIMIT: i16 = 2_047;
const _: () = assert!(2 * WIDTH as i64 * square(ACTIVATION_ONE) as i64 * OUTPUT_LIMIT as i64 <= 1 << 30);
/// What an output of 1.0 is in integers.
pub const OUTPUT_UNIT: f64 =
    (ACTIVATION_ONE as f64 * ACTIVATION_ONE as f64) / (1 << SQUARE_SHIFT) as f64 * OUTPUT_ONE as f64;
/// Centipawns for an output of 1.0, that is, for odds of e to 1.
pub const CENTIPAWNS: i32 = 600;

const MAGIC: [u8; 8] = *b"KozukaNN";
const FORMAT: u32 = 1;
const HEADER_BYTES: usize = 64;

/// The square of an activation between 0 and [`ACTIVATION_ONE`].
#[inline(always)]
pub const fn square(active: i16) -> i16 {
    let active = active as u16;
    ((active.wrapping_mul(active) + (1 << SQUARE_SHIFT >> 1)) >> SQUARE_SHIFT) as i16
}

/// The weights of one feature, or what they add up to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Row(pub [i16; WIDTH]);

/// The weights of one output: for the side to move, then the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutputRow(pub [Row; 2]);

/// Weights of a network for some game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weights {
    /// The first layer's, by feature.
    pub features: Vec<Row>,
    /// The first layer's biases.
    pub biases: Row,
    /// The outputs'.
    pub outputs: [OutputRow; OUTPUT_BUCKETS],
    /// The outputs' biases, in units of 1 / [`OUTPUT_UNIT`].
    pub output_biases: [i32; OUTPUT_BUCKETS],
}

/// A network for that game. Copies share the weights.
#[derive(Clone, Debug)]
pub struct Network<V> {
    weights: Arc<Weights>,
    game: std::marker::PhantomData<V>,
}

/// Why a file is no network that can be used.
#[derive(Debug, Error)]
pub enum NetworkError {
    /// It is a directory.
    #[error("{} is a directory, not a network file", .0.display())]
    Directory(PathBuf),
    /// It is a pipe or a device.
    #[error("{} is no regular file", .0.display())]
    NoFile(PathBuf),
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: std::io::Error,
    },
    /// It can be read, but is none.
    #[error("{}: {error}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: FormatError,
    },
}

impl NetworkError {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Directory(path) | Self::NoFile(path) | Self::Io { path, .. } | Self::Content { path, .. } => path,
        }
    }

    /// What is wrong with it, without its name.
    pub fn reason(&self) -> String {
        match self {
            Self::Directory(_) => "it is a directory".to_owned(),
            Self::NoFile(_) => "it is no regular file".to_owned(),
            Self::Io { error, .. } => error.to_string(),
            Self::Content { error, .. } => error.to_string(),
        }
    }
}

/// Why bytes are no network that can be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[allow(missing_docs)]
pub enum FormatError {
    /// There is nothing.
    #[error("the file is empty")]
    Empty,
    /// It does not begin like a network.
    #[error("this is not a Kozuka network")]
    NotANetwork,
    /// The header is damaged.
    #[error("the header is damaged")]
    DamagedHeader,
    /// It was written by another version.
    #[error("file format {found}; this program reads format {expected}")]
    Format { found: u32, expected: u32 },
    /// It is for another game, or sees other features.
    #[error("the network was made for another game or another version of the features")]
    OtherFeatures,
    /// It is of another size.
    #[error(
        "a network of {}x{}x{} instead of {}x{}x{}",
        found[0], found[1], found[2], expected[0], expected[1], expected[2]
    )]
    OtherShape {
        /// Features, neurons a side, outputs.
        found: [u32; 3],
        /// Features, neurons a side, outputs.
        expected: [u32; 3],
    },
    /// It ends too early, or goes on.
    #[error("{found} bytes instead of {expected}")]
    Length { found: usize, expected: usize },
    /// The weights are damaged.
    #[error("the weights are damaged: their checksum is wrong")]
    DamagedWeights,
    /// A weight with which sums could overflow.
    #[error("a weight is out of range")]
    WeightRange,
}

/// FNV-1a, over words of eight bytes.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0xcbf2_9ce4_8422_2325, |hash: u64, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let mixed = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    })
}

/// Takes numbers off the front of bytes.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn row(&mut self) -> Option<Row> {
        let (first, rest) = self.0.split_at_checked(size_of::<Row>())?;
        self.0 = rest;
        let mut row = Row::zeroed();
        for (value, bytes) in row.0.iter_mut().zip(first.as_chunks::<2>().0) {
            *value = i16::from_le_bytes(*bytes);
        }
        Some(row)
    }
}

impl Weights {
    fn payload(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity((self.features.len() + 20) * size_of::<Row>());
        let rows = self.features.iter().chain([&self.biases]).chain(self.outputs.iter().flat_map(|output| &output.0));
        for row in rows {
            bytes.extend(row.0.iter().flat_map(|value| value.to_le_bytes()));
        }
        bytes.extend(self.output_biases.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    fn read_payload(bytes: &[u8], rows: usize) -> Option<Self> {
        let mut reader = Reader(bytes);
        let features = (0..rows).map(|_| reader.row()).collect::<Option<Vec<_>>>()?;
        let biases = reader.row()?;
        let mut outputs = [OutputRow([Row::zeroed(); 2]); OUTPUT_BUCKETS];
        for row in outputs.iter_mut().flat_map(|output| &mut output.0) {
            *row = reader.row()?;
        }
        let mut output_biases = [0; OUTPUT_BUCKETS];
        for bias in &mut output_biases {
            *bias = i32::from_le_bytes(reader.bytes()?);
        }
        Some(Self { features, biases, outputs, output_biases })
    }

    /// Whether no sum of the inference can overflow for what the weights of single features can add up to.
    fn in_range(&self, max_active: usize) -> bool {
        let limit = i16::MAX / (max_active as i16 + 1);
        let small = |row: &Row| row.0.iter().all(|value| value.unsigned_abs() <= limit.unsigned_abs());
        self.features.iter().all(small)
            && small(&self.biases)
            && self
                .outputs
                .iter()
                .flat_map(|output| &output.0)
                .flat_map(|row| row.0)
                .all(|value| value.unsigned_abs() <= OUTPUT_LIMIT.unsigned_abs())
            && self.output_biases.iter().all(|bias| bias.unsigned_abs() <= 1 << 29)
    }
}

impl<V: Variant> Network<V> {
    const SHAPE: [u32; 3] = [Features::<V>::ROWS as u32, WIDTH as u32, OUTPUT_BUCKETS as u32];

    /// A network with these weights.
    ///
    /// # Errors
    /// If they are too few or too many, or sums of them could overflow.
    pub fn new(weights: Weights) -> Result<Self, FormatError> {
        if weights.features.len() != Features::<V>::ROWS {
            let found = [weights.features.len() as u32, Self::SHAPE[1], Self::SHAPE[2]];
            return Err(FormatError::OtherShape { found, expected: Self::SHAPE });
        }
        if !weights.in_range(Features::<V>::MAX_ACTIVE) {
            return Err(FormatError::WeightRange);
        }
        Ok(Self { weights: Arc::new(weights), game: std::marker::PhantomData })
    }

    /// Shares weights that [`Network::new`] has accepted for this game.
    pub(super) fn from_checked(weights: Arc<Weights>) -> Self {
        Self { weights, game: std::marker::PhantomData }
    }

    /// The weights, to be shared.
    pub(super) fn into_weights(self) -> Arc<Weights> {
        self.weights
    }

    /// The weights.
    #[inline(always)]
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// A number that tells networks apart.
    pub fn checksum(&self) -> u64 {
        checksum(&self.weights.payload())
    }

    /// The network as a file's content.
    pub fn to_bytes(&self) -> Vec<u8> {
        let payload = self.weights.payload();
        let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend(Self::SHAPE.iter().flat_map(|size| size.to_le_bytes()));
        bytes.extend(Features::<V>::HASH.to_le_bytes());
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(checksum(&payload).to_le_bytes());
        bytes.resize(HEADER_BYTES - 8, 0);
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes.extend(payload);
        bytes
    }

    /// Reads a file's content.
    ///
    /// # Errors
    /// If it is anything but a whole network of this game and shape.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        if bytes.is_empty() {
            return Err(FormatError::Empty);
        }
        if !bytes.starts_with(&MAGIC) {
            return Err(FormatError::NotANetwork);
        }
        let Some((header, payload)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Err(FormatError::Length { found: bytes.len(), expected: HEADER_BYTES });
        };
        let mut fields = Reader(&header[MAGIC.len()..]);
        let mut word = || fields.bytes().map_or(0, u32::from_le_bytes);
        let format = word();
        let found = [word(), word(), word()];
        let mut long = || fields.bytes().map_or(0, u64::from_le_bytes);
        let (hash, length, payload_checksum) = (long(), long(), long());
        let header_checksum = u64::from_le_bytes([56, 57, 58, 59, 60, 61, 62, 63].map(|index: usize| header[index]));
        if checksum(&header[..HEADER_BYTES - 8]) != header_checksum {
            return Err(FormatError::DamagedHeader);
        }
        if format != FORMAT {
            return Err(FormatError::Format { found: format, expected: FORMAT });
        }
        if hash != Features::<V>::HASH {
            return Err(FormatError::OtherFeatures);
        }
        if found != Self::SHAPE {
            return Err(FormatError::OtherShape { found, expected: Self::SHAPE });
        }
        let expected = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(HEADER_BYTES);
        if bytes.len() != expected {
            return Err(FormatError::Length { found: bytes.len(), expected });
        }
        if checksum(payload) != payload_checksum {
            return Err(FormatError::DamagedWeights);
        }
        let error = FormatError::Length { found: bytes.len(), expected };
        Self::new(Weights::read_payload(payload, Features::<V>::ROWS).ok_or(error)?)
    }

    /// Bytes of a file.
    const FILE_BYTES: usize = HEADER_BYTES
        + (Features::<V>::ROWS + 1 + 2 * OUTPUT_BUCKETS) * size_of::<Row>()
        + OUTPUT_BUCKETS * size_of::<i32>();

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no network of this game and shape.
    pub fn load(path: &Path) -> Result<Self, NetworkError> {
        let io = |error| NetworkError::Io { path: path.to_owned(), error };
        let metadata = fs::metadata(path).map_err(io)?;
        if metadata.is_dir() {
            return Err(NetworkError::Directory(path.to_owned()));
        }
        // A pipe or a device might never come to its end, or never begin.
        if !metadata.is_file() {
            return Err(NetworkError::NoFile(path.to_owned()));
        }
        let mut bytes = Vec::new();
        // What is longer is no network, and need not fit into memory for us to say so.
        fs::File::open(path).map_err(io)?.take(Self::FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(io)?;
        Self::from_bytes(&bytes).map_err(|error| {
            let error = match error {
                FormatError::Length { expected, .. } if bytes.len() > Self::FILE_BYTES => {
                    FormatError::Length { found: usize::try_from(metadata.len()).unwrap_or(usize::MAX), expected }
                }
                other => other,
            };
            NetworkError::Content { path: path.to_owned(), error }
        })
    }

    /// The evaluation in centipawns for `side`, from what its and the other side's features add up to: the reference
    /// that says in the plainest way what all faster code must compute.
    pub fn output(&self, sums: [&Row; 2], side: Color, bucket: usize) -> Score {
        let weights = &self.weights.outputs[bucket];
        let mut total = 0;
        for (part, half) in [(sums[side.index()], &weights.0[0]), (sums[(!side).index()], &weights.0[1])] {
            for (&value, &weight) in part.0.iter().zip(&half.0) {
                let active = i32::from(value.clamp(0, ACTIVATION_ONE));
                let squared = (active * active + (1 << SQUARE_SHIFT >> 1)) >> SQUARE_SHIFT;
                total += squared * i32::from(weight);
            }
        }
        self.centipawns(total, bucket)
    }

    /// Centipawns from the sum of squared activations times weights.
    #[inline(always)]
    pub fn centipawns(&self, total: i32, bucket: usize) -> Score {
        // OUTPUT_UNIT is a / 2^SQUARE_SHIFT.
        const UNIT: i64 = ACTIVATION_ONE as i64 * ACTIVATION_ONE as i64 * OUTPUT_ONE as i64;
        let output = i64::from(total + self.weights.output_biases[bucket]);
        (output * (i64::from(CENTIPAWNS) << SQUARE_SHIFT) / UNIT) as Score
    }
}
