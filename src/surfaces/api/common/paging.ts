import { integer } from '../../../platform/input/index.ts'
import { parseInteger } from './parse-values.ts'

const MAX_PAGE_SIZE = 1000

/**
 * The requested page of a listing, counted from 1. If either parameter is not a number,
 * both get their defaults. A number below 1 is for the caller to reject, or counts as absent if `lenient`.
 */
export function readPage(
  query: { readonly page: string | undefined; readonly per_page: string | undefined },
  usual: number,
  { lenient = false } = {},
): { page: number; perPage: number } {
  const page = parseInteger(query.page ?? '1')
  const perPage = parseInteger(query.per_page ?? String(usual))
  if (page === undefined || perPage === undefined) return { page: 1, perPage: usual }
  if (lenient && page < 1) return readPage({ ...query, page: '1' }, usual, { lenient })
  if (lenient && perPage < 1) return { page, perPage: usual }
  return { page, perPage: Math.min(perPage, MAX_PAGE_SIZE) }
}

/** Page parameters that fall back to their defaults if malformed. */
export function pageQuery(usual: number) {
  return {
    page: integer({ default: 1, min: 1, max: 1_000_000, lenient: true }),
    per_page: integer({ default: usual, min: 1, max: MAX_PAGE_SIZE, lenient: true }),
  }
}
