//! Generates the client of the contract from its descriptors.

use prost::Message;
use std::{error::Error, fs};

const DESCRIPTORS: &str = "../../../proto/generated/descriptors.binpb";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={DESCRIPTORS}");
    let encoded = fs::read(DESCRIPTORS)?;
    let descriptors = prost_types::FileDescriptorSet::decode(encoded.as_slice())?;
    tonic_prost_build::configure().build_server(false).compile_fds(descriptors)?;
    Ok(())
}
