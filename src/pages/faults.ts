import type { FaultResponse, FaultWords } from '../http/index.ts'
import { en, type PageTexts } from './texts/en.ts'

/** What visitors of a link are told. What no visit can meet is answered like a fault of ours. */
export function faultsIn(texts: PageTexts): FaultWords {
  const nowhere = (): FaultResponse => [404, texts.nowhere]
  return {
    'link-not-found': nowhere,
    'library-not-found': nowhere,
    'link-expired': () => [404, texts.expired],
    'link-password-needed': () => [403, texts.hasPassword],
    'link-not-for-you': () => [403, texts.notForYou],
    'too-many-tries': ({ seconds }) => [
      429,
      texts.tooManyTries(Math.ceil(seconds / 60)),
      { 'Retry-After': seconds },
    ],
    busy: ({ seconds }) => [503, texts.busy(seconds), { 'Retry-After': seconds }],
    'path-not-found': () => [404, texts.notPart],
    'permission-denied': () => [403, texts.denied],
    'ticket-not-found': () => [404, texts.downloadEnded],
    'quota-exceeded': () => [443, texts.noRoom],
    'too-many-entries': () => [400, texts.noRoom],
    'encrypted-mismatch': nowhere,
    'password-needed': nowhere,
  }
}

export const pageFaults: FaultWords = faultsIn(en)
