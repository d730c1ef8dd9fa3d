import { integer } from '../../http/index.ts'
import { parseWhole } from './parse-values.ts'

const LARGEST_PAGE = 1000

/**
 * The page of a listing that was asked for, counted from 1. What is no number in either parameter
 * resets both; a number below 1 is the caller's to refuse, or counts as nothing sent if `lenient`.
 */
export function readPage(
  query: { readonly page: string | undefined; readonly per_page: string | undefined },
  usual: number,
  { lenient = false } = {},
): { page: number; perPage: number } {
  const page = parseWhole(query.page ?? '1')
  const perPage = parseWhole(query.per_page ?? String(usual))
  if (page === undefined || perPage === undefined) return { page: 1, perPage: usual }
  if (lenient && page < 1) return readPage({ ...query, page: '1' }, usual, { lenient })
  if (lenient && perPage < 1) return { page, perPage: usual }
  return { page, perPage: Math.min(perPage, LARGEST_PAGE) }
}

/** Readers of a page, for listings that take what is no number for nothing sent. */
export function pageQuery(usual: number) {
  return {
    page: integer({ default: 1, min: 1, max: 1_000_000, lenient: true }),
    per_page: integer({ default: usual, min: 1, max: LARGEST_PAGE, lenient: true }),
  }
}
