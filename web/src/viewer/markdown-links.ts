/** Target of a link in a document. */
type Target =
  | { readonly kind: 'away'; readonly href: string }
  | { readonly kind: 'inside'; readonly path: string; readonly isFolder: boolean }
  | { readonly kind: 'heading'; readonly id: string }

const AWAY = new Set(['http:', 'https:', 'mailto:'])
const INSIDE = 'library:'

/**
 * Resolves `href` in the document at `path`: an external URL, a file of the library, or a heading.
 * Undefined for anything else, such as a `javascript:` URL.
 */
export function targetOf(path: string, href: string): Target | undefined {
  if (href.startsWith('#')) return { kind: 'heading', id: headingId(decodedText(href.slice(1))) }
  let url: URL
  try {
    // Parsed as browsers do, so that spaces, line breaks and capitals cannot hide a scheme.
    url = new URL(href, `${INSIDE}//here${path.split('/').map(encodeURIComponent).join('/')}`)
  } catch {
    return undefined
  }
  if (AWAY.has(url.protocol)) return { kind: 'away', href: url.href }
  if (url.protocol !== INSIDE || url.host !== 'here') return undefined
  const inside = decodedText(url.pathname)
  return { kind: 'inside', path: inside.replace(/(?<=.)\/+$/, ''), isFolder: inside.endsWith('/') }
}

/** The id of a heading. The prefix avoids collisions with other ids. */
export function headingId(text: string): string {
  const slug = text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s+/g, '-')
  return `md-${slug}`
}

function decodedText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const known = new Map<string, string>()

/** Decodes character references. Each is parsed alone, so none can become an element. */
export function withCharacters(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][\da-zA-Z]{1,31});/g, (reference) => {
    const found = known.get(reference) ?? characterOf(reference)
    known.set(reference, found)
    return found
  })
}

function characterOf(reference: string): string {
  return new DOMParser().parseFromString(reference, 'text/html').body.textContent ?? reference
}
