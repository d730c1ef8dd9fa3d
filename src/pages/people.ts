import type { OpenLink } from '../access/open-link.ts'
import { html } from './html.ts'
import type { PageServices } from './services.ts'
import { dayText, isoText } from './wording.ts'

/** By whom, and until when. Names are shown, addresses are not. */
export async function sharedBy({ directory }: PageServices, { link }: OpenLink) {
  const { name } = await directory.person(link.creator)
  const { expiresAt } = link
  const until =
    expiresAt !== undefined &&
    html` until <time datetime="${isoText(expiresAt)}">${dayText(expiresAt)}</time>`
  return html`Shared by <b>${name}</b>${until}`
}
