import { parseEmail } from '../../people/accounts/index.ts'

/** Further mentions in one comment are plain text. */
const MAX_MENTIONS = 20

// At the start of a word, so that `a@b.example` is not a mention. Punctuation after the address is not part of it.
const MENTION = /(?<![\p{L}\p{N}._%+@-])@([^\s@<>"'(),;:]+@[\p{L}\p{N}.-]*[\p{L}\p{N}])/gu

/** The e-mails that a comment mentions as `@ann@example.org`. */
export function mentionsIn(text: string): string[] {
  const found = new Set<string>()
  for (const [, address = ''] of text.matchAll(MENTION)) {
    const email = parseEmail(address)
    if (email !== undefined) found.add(email)
    if (found.size === MAX_MENTIONS) break
  }
  return [...found]
}
