import { ROOT } from '../../base/paths/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import type { HttpResponse } from '../../platform/responses/index.ts'
import type { OpenLink } from '../../sharing/access/index.ts'
import { uploadArea } from './folder-page.ts'
import { type Html, html } from './html.ts'
import { icon } from './icons.ts'
import { pageAnswer } from './layout.ts'
import { rootOf } from './root.ts'
import type { PageServices } from './services.ts'
import { type PageTexts, textsFor } from './texts/texts.ts'
import { sharedBy, sharerOf } from './visit.ts'
import { isoText, momentText } from './wording.ts'

type FileRequest = NonNullable<OpenLink['link']['request']>

/** The page of an upload link: accepts files, asks what its file request asks, and lists nothing of the folder. */
export async function uploadPage(
  services: PageServices,
  request: HttpRequest,
  open: OpenLink,
): Promise<HttpResponse> {
  const texts = textsFor(request)
  const { request: asked, description } = open.link
  const heading = asked?.heading || open.name
  return pageAnswer(request, {
    title: asked?.heading || texts.uploadTo(open.name),
    aside: sharedBy(await sharerOf(services, open), open, texts),
    hasScript: true,
    body: html`<article class="card">
<div class="head">
<span class="sign">${icon('folder')}</span>
<div class="what"><h1>${heading}</h1>
<p class="meta">${texts.uploadHint}</p>
${asked?.deadline !== undefined && html`<p class="meta">${until(asked.deadline, texts)}</p>`}</div>
</div>
${description !== '' && html`<p class="note">${description}</p>`}
${asked !== undefined && needsForm(asked) ? requestForm(open, asked, rootOf(request), texts) : uploadArea(open, ROOT, rootOf(request), texts)}
</article>`,
  })
}

/** The page of a file request whose deadline has passed. */
export async function closedPage(
  services: PageServices,
  request: HttpRequest,
  open: OpenLink,
): Promise<HttpResponse> {
  const texts = textsFor(request)
  return pageAnswer(request, {
    title: texts.closedTitle,
    status: 403,
    aside: sharedBy(await sharerOf(services, open), open, texts),
    body: html`<section class="card message">
<span class="sign">${icon('lock')}</span>
<h1>${texts.closedTitle}</h1>
<p><b>${open.link.request?.heading || open.name}</b></p>
<p>${texts.closed}</p>
</section>`,
  })
}

/** Whether something is filled in or chosen before the files are sent. Otherwise each is sent once it is chosen. */
function needsForm({ name, message, files }: FileRequest): boolean {
  return name !== 'no' || message || files.length > 0
}

/** The script shows the time in the zone of the visitor. */
function until(deadline: number, texts: PageTexts): readonly Html[] {
  return texts.filesUntil.map((part) => {
    if ('text' in part) return html`${part.text}`
    return html`<time datetime="${isoText(deadline)}" data-local>${momentText(deadline, texts)}</time>`
  })
}

function requestForm(open: OpenLink, asked: FileRequest, root: string, texts: PageTexts): Html {
  return html`<form class="request" method="post" data-request>
${(asked.name !== 'no' || asked.message) && html`<div class="fields">${nameField(asked, texts)}${messageField(asked, texts)}</div>`}
${asked.files.length > 0 && wantedFiles(asked.files, texts)}
${uploadArea(open, ROOT, root, texts, html`<p class="send"><button class="button main" type="submit">${icon('upload')} ${texts.send}</button></p>`)}
</form>`
}

function nameField({ name }: FileRequest, texts: PageTexts): Html | false {
  if (name === 'no') return false
  const isRequired = name === 'required'
  return html`<p class="field"><label for="visitor">${texts.yourName}${!isRequired && optional(texts)}</label>
<input id="visitor" name="name" maxlength="100" autocomplete="name"${isRequired && html` required`}></p>`
}

function messageField({ message }: FileRequest, texts: PageTexts): Html | false {
  return (
    message &&
    html`<p class="field"><label for="message">${texts.yourMessage}${optional(texts)}</label>
<textarea id="message" name="message" rows="3" maxlength="2000"></textarea></p>`
  )
}

function optional(texts: PageTexts): Html {
  return html` <span class="optional">(${texts.optional})</span>`
}

function wantedFiles(files: readonly string[], texts: PageTexts): Html {
  const rows = files.map(
    (
      file,
      index,
    ) => html`<li data-wanted="${file}"><span class="tick" aria-hidden="true"></span><span class="name">${file}</span>
<span class="chooser"><input class="hidden" id="wanted-${index}" type="file" aria-label="${texts.chooseFor(file)}"><label class="button" for="wanted-${index}" aria-hidden="true">${texts.chooseOne}</label></span></li>`,
  )
  return html`<section class="wanted" aria-labelledby="wanted"><h2 id="wanted">${texts.wanted}</h2>
<ul>${rows}</ul></section>`
}
