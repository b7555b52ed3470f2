/** The parts of SVG documents. */

export const INK = "#1a1a1a";
export const LINE_COLOR = "#767676";

/** A document of this size in pixels, with a title for those who cannot see it. */
export function svgDocument(width: number, height: number, title: string, content: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
      `role="img" font-family="sans-serif" font-size="12" fill="${INK}">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...content,
    "</svg>",
    "",
  ].join("\n");
}

export function text(x: number, y: number, content: string, attributes = ""): string {
  const gap = attributes === "" ? "" : " ";
  return `<text x="${round(x)}" y="${round(y)}"${gap}${attributes}>${escapeMarkup(content)}</text>`;
}

/** The title in the first line, and what to know about the figures in the second one. */
export function heading(title: string, note: string): string[] {
  return [text(12, 20, title, 'font-size="14" font-weight="bold"'), text(12, 38, note, `fill="${LINE_COLOR}"`)];
}

/** A length in pixels. */
export function round(length: number): string {
  return String(Number(length.toFixed(1)));
}

function escapeMarkup(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
