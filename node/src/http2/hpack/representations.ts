/** The bits in the first octet of a representation that give its kind (RFC 7541 §6), and those that are an integer. */

/** An entry of a table: its index (§6.1). */
export const INDEXED = 0x80;
export const INDEXED_PREFIX = 0x7f;

/** A literal that becomes an entry: the index of its name, 0 if the name follows as a text (§6.2.1). */
export const INCREMENTAL_INDEXING = 0x40;
export const INCREMENTAL_INDEXING_PREFIX = 0x3f;

/** A new size of the dynamic table (§6.3). */
export const SIZE_UPDATE = 0x20;
export const SIZE_UPDATE_PREFIX = 0x1f;

/** A literal that no hop may index (§6.2.3), and one that does not become an entry (§6.2.2); otherwise like §6.2.1. */
export const NEVER_INDEXED = 0x10;
export const WITHOUT_INDEXING = 0x00;
export const LITERAL_PREFIX = 0x0f;

/** A text in Huffman code; the length of the encoded text (§5.2). */
export const HUFFMAN = 0x80;
export const TEXT_LENGTH_PREFIX = 0x7f;

/** SETTINGS_HEADER_TABLE_SIZE until the peer sends another value (RFC 9113 §6.5.2). */
export const TABLE_BYTES_INITIAL = 4_096;
