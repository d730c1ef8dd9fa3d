import type { OpenLink } from '../../sharing/access/index.ts'
import { html } from './html.ts'
import type { PageServices } from './services.ts'
import type { PageTexts } from './texts/texts.ts'
import { dayText, isoText } from './wording.ts'

/** The name of the person who shared it. E-mail addresses are not shown. */
export async function sharerOf({ directory }: PageServices, { link }: OpenLink): Promise<string> {
  return (await directory.person(link.creator)).name
}

/** Who shared it, and until when. */
export function sharedBy(name: string, { link: { expiresAt } }: OpenLink, texts: PageTexts) {
  const pieces = texts.sharedBy(expiresAt !== undefined).map((part) => {
    if ('text' in part) return html`${part.text}`
    if (part.argument === 'name' || expiresAt === undefined) return html`<b>${name}</b>`
    return html`<time datetime="${isoText(expiresAt)}">${dayText(expiresAt, texts)}</time>`
  })
  return html`${pieces}`
}
