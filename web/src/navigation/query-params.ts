import { useMemo } from 'react'
import { useSearch } from 'wouter/use-browser-location'

/**
 * The query parameters of the URL. The router's own hook decodes them twice, which breaks names that contain
 * `%41`.
 */
export function useQueryParams(): URLSearchParams {
  const search = useSearch()
  return useMemo(() => new URLSearchParams(search), [search])
}
