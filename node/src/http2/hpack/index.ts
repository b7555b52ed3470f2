/**
 * HPACK (RFC 7541): the compression of header fields in HTTP/2. A decoder and an encoder hold what the blocks of one
 * connection refer to, one for each direction. Nothing here knows frames, or what a field means.
 */

export { HeaderCompressionError } from "./header-compression-error.ts";
export { type DecodedFields, HeaderDecoder } from "./header-decoder.ts";
export { HeaderEncoder, type HeaderEncoderOptions } from "./header-encoder.ts";
