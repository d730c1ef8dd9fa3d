import type { OpenLink } from '../access/open-link.ts'
import type { LibraryPath } from '../objects/paths.ts'
import { type Html, html } from './html.ts'
import { icon } from './icons.ts'

/** Where files are dropped or chosen; the script sends them. */
export function uploadArea({ link }: OpenLink, below: LibraryPath, root: string): Html {
  return html`<section class="drop" data-upload="${link.kind}" data-token="${link.token}" data-path="${below}" data-root="${root}" aria-label="Upload">
<p class="ask"><span class="sign small">${icon('upload')}</span> <span class="wide">Drop files or folders here, or</span>
<label class="button main" for="files">Choose files</label>
<input class="hidden" id="files" type="file" multiple></p>
<ul class="sent" aria-label="Uploads"></ul>
<p class="status" role="status"></p>
<noscript><p class="wrong">Uploading needs JavaScript, which is switched off in this browser.</p></noscript>
</section>`
}
