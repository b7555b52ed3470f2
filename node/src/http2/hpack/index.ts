/**
 * HPACK (RFC 7541): the compression of header fields in HTTP/2. A connection has a decoder and an encoder, one for each
 * direction, with the tables that its blocks refer to. They do not know frames, nor the meaning of fields.
 */

export { HeaderCompressionError } from "./header-compression-error.ts";
export { type DecodedFields, HeaderDecoder } from "./header-decoder.ts";
export { HeaderEncoder, type HeaderEncoderOptions } from "./header-encoder.ts";
