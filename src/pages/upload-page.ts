import type { OpenLink } from '../access/index.ts'
import type { HttpRequest, HttpResponse } from '../http/index.ts'
import { ROOT } from '../objects/index.ts'
import { html } from './html.ts'
import { icon } from './icons.ts'
import { pageAnswer, rootOf } from './layout.ts'
import { sharedBy } from './people.ts'
import type { PageServices } from './services.ts'
import { textsFor } from './texts/texts.ts'
import { uploadArea } from './upload-area.ts'

/** The page of an upload link: accepts files and lists none. */
export async function uploadPage(
  services: PageServices,
  request: HttpRequest,
  open: OpenLink,
): Promise<HttpResponse> {
  const texts = textsFor(request)
  return pageAnswer(request, {
    title: texts.uploadTo(open.name),
    aside: await sharedBy(services, open, texts),
    hasScript: true,
    body: html`<article class="card">
<div class="head">
<span class="sign">${icon('folder')}</span>
<div class="what"><h1>${open.name}</h1>
<p class="meta">${texts.uploadHint}</p></div>
</div>
${open.link.description !== '' && html`<p class="note">${open.link.description}</p>`}
${uploadArea(open, ROOT, rootOf(request), texts)}
</article>`,
  })
}
