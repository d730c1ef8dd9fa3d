import { baseName, type LibraryPath, ROOT, selfAndAbove } from '../../base/paths/index.ts'
import type { OpenLink } from '../../sharing/access/index.ts'
import { html } from './html.ts'
import type { PageTexts } from './texts/texts.ts'
import { inQuery } from './wording.ts'

/** Breadcrumbs from the shared folder to a path below it; `base` is the URL of the folder's page. */
export function crumbs(open: OpenLink, below: LibraryPath, base: string, texts: PageTexts) {
  const steps = selfAndAbove(below).toReversed()
  return html`<nav class="crumbs" aria-label="${texts.where}"><ol>
${steps.map((step) => {
  const name = step === ROOT ? open.name : baseName(step)
  if (step === below) return html`<li><span aria-current="page">${name}</span></li>`
  return html`<li><a href="${base}${step === ROOT ? '?' : `?p=${inQuery(step)}`}">${name}</a></li>`
})}
</ol></nav>`
}
