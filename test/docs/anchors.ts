import { anchorOf } from '../../site/markdown.ts'

/** The anchors of the headings of a page. One that is there already gets a number. */
export function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>()
  return headingAnchors(text).map((anchor) => {
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}

/** The anchors of the headings of a page, as their texts make them. */
export function headingAnchors(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
  return Array.from(prose.matchAll(/^#{1,6} +(.+)$/gm), ([, heading = '']) => anchorOf(heading))
}
