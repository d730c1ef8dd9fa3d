import { type CarrelError, errorForStatus } from '../api/index.ts'
import type { SentForm } from './form.ts'

/** Without progress for this long, the connection counts as lost. */
const STALLED_MS = 60_000
/** Time for the response after the last byte. */
const ANSWER_MS = 15 * 60_000

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Bytes of the body sent so far. */
  readonly onProgress: (sent: number) => void
  /** Called when all bytes were sent. */
  readonly onSent: () => void
}

/** Posts a form and resolves to the JSON of the response. Rejects with a CarrelError, with status 0 if there was no response. */
export function send(url: string, form: SentForm, options: SendOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    let timer: ReturnType<typeof setTimeout> | undefined
    const watch = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => request.abort(), ms)
    }
    const lost = () => reject(errorForStatus(0, ''))
    request.open('POST', url)
    request.setRequestHeader('Content-Type', form.type)
    for (const [name, value] of Object.entries(options.headers ?? {})) request.setRequestHeader(name, value)
    request.upload.addEventListener('progress', ({ loaded }) => {
      watch(STALLED_MS)
      options.onProgress(loaded)
    })
    request.upload.addEventListener('load', () => {
      watch(ANSWER_MS)
      options.onSent()
    })
    request.addEventListener('error', lost)
    request.addEventListener('abort', lost)
    request.addEventListener('load', () => {
      if (request.status === 200) resolve(parsed(request.responseText))
      else reject(refusal(request))
    })
    const stop = () => request.abort()
    options.signal.addEventListener('abort', stop)
    request.addEventListener('loadend', () => {
      clearTimeout(timer)
      options.signal.removeEventListener('abort', stop)
    })
    if (options.signal.aborted) {
      lost()
      return
    }
    watch(STALLED_MS)
    request.send(form.body)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refusal({ status, statusText, responseText }: XMLHttpRequest): CarrelError {
  const body = parsed(responseText) as { error?: unknown; error_msg?: unknown } | undefined
  const message = body?.error ?? body?.error_msg
  return errorForStatus(status, typeof message === 'string' ? message : statusText)
}
