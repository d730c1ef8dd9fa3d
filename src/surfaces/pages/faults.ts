import {
  type FaultResponse,
  faultsOfWebApi,
  type SurfaceFaults,
  unexpected,
} from '../../platform/http/index.ts'
import { type PageTexts, textsFor } from './texts/texts.ts'

/** What visitors of a link are told. */
export function faultsIn(texts: PageTexts): SurfaceFaults {
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
    'disk-full': () => [507, texts.diskFull],
    'disk-unwritable': () => [503, texts.unwritable, { 'Retry-After': 60 }],
    'outcome-unknown': () => [504, texts.outcomeUnknown],
    'too-many-entries': () => [400, texts.noRoom],
    'limit-reached': () => [400, texts.noRoom],
    'encrypted-mismatch': nowhere,
    'password-needed': nowhere,
    ...faultsOfWebApi,
    ...unexpected([
      'commit-not-found',
      'role-forbids',
      'name-invalid',
      'too-many-names',
      'root-not-allowed',
      'same-name',
      'into-itself',
      'source-changed',
      'locked',
      'already-locked',
      'not-locked',
      'lock-not-yours',
      'too-many-uploads',
      'block-mismatch',
      'block-missing',
      'size-mismatch',
      'blocks-missing',
      'object-missing',
      'object-invalid',
      'client-ahead',
      'account-not-found',
    ]),
  }
}

export const pageFaults: SurfaceFaults = faultsIn(textsFor({ headers: {} }))
