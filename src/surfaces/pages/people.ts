import type { OpenLink } from '../../sharing/access/index.ts'
import { html } from './html.ts'
import type { PageServices } from './services.ts'
import type { PageTexts } from './texts/texts.ts'
import { dayText, isoText } from './wording.ts'

/** Who shared it, and until when. E-mail addresses are not shown. */
export async function sharedBy({ directory }: PageServices, { link }: OpenLink, texts: PageTexts) {
  const { name } = await directory.person(link.creator)
  const { expiresAt } = link
  const pieces = texts.sharedBy(expiresAt !== undefined).map((part) => {
    if ('text' in part) return html`${part.text}`
    if (part.argument === 'name' || expiresAt === undefined) return html`<b>${name}</b>`
    return html`<time datetime="${isoText(expiresAt)}">${dayText(expiresAt, texts)}</time>`
  })
  return html`${pieces}`
}
