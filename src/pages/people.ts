import type { OpenLink } from '../access/index.ts'
import { html } from './html.ts'
import type { PageServices } from './services.ts'
import type { PageTexts } from './texts/en.ts'
import { dayText, isoText } from './wording.ts'

/** Who shared it, and until when. E-mail addresses are not shown. */
export async function sharedBy({ directory }: PageServices, { link }: OpenLink, texts: PageTexts) {
  const { name } = await directory.person(link.creator)
  const { expiresAt } = link
  const until =
    expiresAt !== undefined &&
    html`${texts.until}<time datetime="${isoText(expiresAt)}">${dayText(expiresAt, texts)}</time>`
  const [before, after] = texts.sharedBy
  return html`${before}<b>${name}</b>${after}${until}`
}
