import { DomainError, type Fault } from '../../base/errors.ts'
import {
  type FaultResponse,
  type HttpRequest,
  isFromElsewhere,
  readVisitorCredentials,
} from '../../platform/http/index.ts'
import { type HttpResponse, rawResponse } from '../../platform/responses/index.ts'
import { grantName, type LinkGrant, type LinkKind, type OpenLink } from '../../sharing/access/index.ts'
import { faultsIn } from './faults.ts'
import { html } from './html.ts'
import { icon } from './icons.ts'
import { pageAnswer } from './layout.ts'
import type { PageServices } from './services.ts'
import { type PageTexts, textsFor } from './texts/texts.ts'
import { dayText, isoText } from './wording.ts'

interface Visit {
  readonly token: string
  readonly request: HttpRequest
  readonly kind: LinkKind
  /** Whether the request is for bytes, so that an error page needs an error status. */
  readonly wantsBytes?: boolean
  /** Where a password is sent to; the address itself unless that takes none. */
  readonly unlockedAt?: string
}

/** Opens a link for a visitor and renders a page; asks for the password if one is needed. */
export async function visited(
  { links }: PageServices,
  visit: Visit,
  show: (open: OpenLink) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await show(
      await links.open(
        visit.token,
        readVisitorCredentials(visit.request, grantName(visit.token)),
        visit.kind,
      ),
    )
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return answerToFault(visit, error.fault)
  }
}

/** Checks an entered password and sets a cookie that grants access for a while. */
export async function unlocked(
  { links }: PageServices,
  visit: Visit,
  password: string,
): Promise<HttpResponse> {
  const { token, request, kind } = visit
  // A form on another site, which would guess from the addresses of its visitors, or set their cookie.
  if (isFromElsewhere(request)) {
    return rawResponse({ status: 303, headers: { Location: request.baseUrl + request.url }, body: '' })
  }
  try {
    const key = { ...readVisitorCredentials(request, grantName(token)), cookie: undefined, password }
    const grant = links.grant(await links.open(token, key, kind))
    const headers = {
      Location: request.baseUrl + request.url,
      'Set-Cookie': grantCookies(request, visit, grant),
      'Cache-Control': 'no-store',
    }
    return rawResponse({ status: 302, headers, body: '' })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return answerToFault(visit, error.fault)
  }
}

/** Everywhere a visitor of a link goes, by kind of link. A browser sends the grant to these paths and what is below. */
const visitedPaths: Readonly<Record<LinkKind, (token: string) => readonly string[]>> = {
  share: (token) => [
    `/d/${token}`,
    `/f/${token}`,
    `/thumbnail/${token}`,
    `/seafhttp/f/${token}`,
    `/api/v2.1/share-links/${token}`,
    '/api/v2.1/share-link-zip-task',
  ],
  upload: (token) => [`/u/d/${token}`, `/api/v2.1/upload-links/${token}`, `/api/v2.1/share-links/${token}`],
}

function grantCookies(
  { baseUrl }: HttpRequest,
  { token, kind }: Visit,
  { name, value, seconds }: LinkGrant,
): string[] {
  const { protocol, pathname } = new URL(baseUrl)
  const rest = `Max-Age=${seconds}; HttpOnly; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`
  const base = pathname.replace(/\/+$/, '')
  return visitedPaths[kind](token).map((path) => `${name}=${value}; Path=${base}${path}; ${rest}`)
}

function answerToFault(visit: Visit, fault: Fault): Promise<HttpResponse> {
  if (fault.code === 'link-password-needed') return passwordPage(visit, fault.wrong)
  // The entry under a fault's code takes just that fault; the compiler cannot pair them through a union.
  const entry = faultsIn(textsFor(visit.request))[fault.code] as
    | ((fault: Fault) => FaultResponse)
    | 'unexpected'
  if (entry === 'unexpected') throw new Error(`unexpected fault ${fault.code}`)
  return messagePage(visit.request, entry(fault), fault.code)
}

function titleOf(code: Fault['code'], status: number, texts: PageTexts): string {
  if (code === 'link-expired') return texts.expiredTitle
  if (status === 403) return texts.notForYouTitle
  if (status === 404) return texts.nowhereTitle
  return status === 429 ? texts.waitTitle : texts.failedTitle
}

function messagePage(
  request: HttpRequest,
  [status, message, headers = {}]: FaultResponse,
  code: Fault['code'],
): Promise<HttpResponse> {
  const title = titleOf(code, status, textsFor(request))
  return pageAnswer(request, {
    title,
    status,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: html`<section class="card message">
<span class="sign">${icon(status === 403 ? 'lock' : 'broken')}</span>
<h1>${title}</h1>
<p>${message}</p>
</section>`,
  })
}

/** Discloses nothing about the target. */
function passwordPage(
  { request, token, wantsBytes = false, unlockedAt }: Visit,
  isWrong: boolean,
): Promise<HttpResponse> {
  const texts = textsFor(request)
  return pageAnswer(request, {
    title: texts.passwordNeeded,
    status: isWrong || wantsBytes ? 403 : 200,
    body: html`<section class="card message">
<span class="sign">${icon('lock')}</span>
<h1>${texts.passwordNeeded}</h1>
<p>${texts.passwordHint}</p>
<form class="unlock" method="post"${unlockedAt !== undefined && html` action="${unlockedAt}"`}>
<input type="hidden" name="token" value="${token}">
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" required autofocus autocomplete="current-password"${isWrong && html` aria-invalid="true" aria-describedby="wrong"`}>
${isWrong && html`<p class="wrong" id="wrong" role="alert">${texts.wrongPassword}</p>`}
<button class="button main" type="submit">${texts.open}</button>
</form>
</section>`,
  })
}

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
