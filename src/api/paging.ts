import { parseWhole } from './sent-values.ts'

const LARGEST_PAGE = 1000

/**
 * The page of a listing that was asked for, counted from 1. What is no number in either parameter
 * resets both; a number below 1 is the caller's to refuse.
 */
export function readPage(
  query: { readonly page: string | undefined; readonly per_page: string | undefined },
  usual: number,
): { page: number; perPage: number } {
  const page = parseWhole(query.page ?? '1')
  const perPage = parseWhole(query.per_page ?? String(usual))
  if (page === undefined || perPage === undefined) return { page: 1, perPage: usual }
  return { page, perPage: Math.min(perPage, LARGEST_PAGE) }
}
