import { parseWhole } from './sent-values.ts'

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
