/** Bytes as base64 (RFC 4648, section 4), as the JSON mapping of protocol buffers writes them, and as text. */

/** Returns the bytes of a base64 text. Throws for any other text. */
export function bytesOfBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

export function base64OfBytes(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Returns the text if the bytes are valid UTF-8, else null. */
export function textOfBytes(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

export function bytesOfText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
