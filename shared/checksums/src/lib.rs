//! The checksums of S3's objects, in the place of the library `crc-fast`, under its name (`[patch.crates-io]`).
//!
//! The AWS client of S3 asks that library for three checksums. It carries the tables of fifty, 660 KB that do not
//! compress: a ninth of what the endpoint's zip would have. This is what the client calls of it, and nothing else; a version of
//! the client that calls more does not compile.
//!
//! Evidence is stored with CRC-32, which is computed as fast as there. The other two are of objects that something else
//! stored, so a byte at a time is fast enough for them.

/// Which checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrcAlgorithm {
    /// CRC-32/ISO-HDLC, S3's `CRC32`.
    Crc32IsoHdlc,
    /// CRC-32/ISCSI, S3's `CRC32C`.
    Crc32Iscsi,
    /// CRC-64/NVME, S3's `CRC64NVME`.
    Crc64Nvme,
}

/// A checksum of bytes that come in pieces.
#[derive(Debug, Clone)]
pub struct Digest(State);

#[derive(Debug, Clone)]
enum State {
    IsoHdlc(crc32fast::Hasher),
    Reflected { table: &'static [u64; 256], sum: u64, mask: u64 },
}

impl Digest {
    /// Of no bytes yet.
    pub fn new(algorithm: CrcAlgorithm) -> Digest {
        let reflected = |table, mask| State::Reflected { table, sum: mask, mask };
        Digest(match algorithm {
            CrcAlgorithm::Crc32IsoHdlc => State::IsoHdlc(crc32fast::Hasher::new()),
            CrcAlgorithm::Crc32Iscsi => reflected(&ISCSI, u64::from(u32::MAX)),
            CrcAlgorithm::Crc64Nvme => reflected(&NVME, u64::MAX),
        })
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::IsoHdlc(hasher) => hasher.update(bytes),
            State::Reflected { table, sum, .. } => {
                for byte in bytes {
                    let [low, ..] = sum.to_le_bytes();
                    let entry = table.get(usize::from(low ^ byte)).copied().unwrap_or_default();
                    *sum = (*sum >> 8) ^ entry;
                }
            }
        }
    }

    /// The checksum of all of them.
    pub fn finalize(&self) -> u64 {
        match &self.0 {
            State::IsoHdlc(hasher) => u64::from(hasher.clone().finalize()),
            State::Reflected { sum, mask, .. } => sum ^ mask,
        }
    }
}

static ISCSI: [u64; 256] = table(0x82f6_3b78);
static NVME: [u64; 256] = table(0x9a6c_9329_ac4b_c9b5);

/// What each byte adds, by the polynomial with its lowest power first.
#[expect(clippy::indexing_slicing, reason = "worked out by the compiler, which refuses what lies outside")]
const fn table(polynomial: u64) -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let mut sum = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ polynomial } else { sum >> 1 };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the catalogue of parametrised CRC algorithms: the checksum of `123456789`, and that of no bytes is 0.
    const CHECKS: [(CrcAlgorithm, u64); 3] = [
        (CrcAlgorithm::Crc32IsoHdlc, 0xcbf4_3926),
        (CrcAlgorithm::Crc32Iscsi, 0xe306_9283),
        (CrcAlgorithm::Crc64Nvme, 0xae8b_1486_0a79_9888),
    ];

    #[test]
    fn the_checksums_are_those_of_the_catalogue_however_the_bytes_come() {
        for (algorithm, expected) in CHECKS {
            assert_eq!(Digest::new(algorithm).finalize(), 0, "{algorithm:?}");
            for pieces in
                [vec!["123456789"], vec!["1234", "", "56789"], vec!["1", "2", "3", "4", "5", "6", "7", "8", "9"]]
            {
                let mut digest = Digest::new(algorithm);
                pieces.iter().for_each(|piece| digest.update(piece.as_bytes()));
                assert_eq!(digest.finalize(), expected, "{algorithm:?} of {pieces:?}");
            }
        }
    }
}
