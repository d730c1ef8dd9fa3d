import type { LibraryPath } from '../../base/paths/index.ts'
import type { OpenLink } from '../../sharing/access/index.ts'
import { type Html, html } from './html.ts'
import { icon } from './icons.ts'
import type { PageTexts } from './texts/texts.ts'

/** The drop zone and file chooser; the script uploads the files. */
export function uploadArea({ link }: OpenLink, below: LibraryPath, root: string, texts: PageTexts): Html {
  return html`<section class="drop" data-upload="${link.kind}" data-token="${link.token}" data-path="${below}" data-root="${root}" aria-label="${texts.upload}">
<p class="ask"><span class="sign small">${icon('upload')}</span> <span class="wide">${texts.dropHere}</span>
<label class="button main" for="files">${texts.chooseFiles}</label>
<input class="hidden" id="files" type="file" multiple></p>
<ul class="sent" aria-label="${texts.uploads}"></ul>
<p class="status" role="status"></p>
<noscript><p class="wrong">${texts.needsScript}</p></noscript>
</section>`
}
