/** The anchor of a heading, as GitHub and the site make it. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N}\p{Pc}\s-]/gu, '')
    .replaceAll(' ', '-')
}

/** Applies `change` to everything but fenced and inline code. */
export function outsideCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^```[\s\S]*?^```$|`[^`\n]+`(?!\]))/m)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('')
}

/** As text in a cell of a table. */
export function escapeText(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|]/g, (char) => `&#${char.charCodeAt(0)};`).replaceAll('\n', ' ')
}

/** A table. Cells are Markdown. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return lines.join('\n')
}
