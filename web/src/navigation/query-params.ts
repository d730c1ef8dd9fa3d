import { useMemo } from 'react'
import { useSearch } from 'wouter/use-browser-location'

/**
 * What follows the `?` of the address. The router's own reading decodes it once too often: a name with `%41` in it
 * would come out as another.
 */
export function useQueryParams(): URLSearchParams {
  const search = useSearch()
  return useMemo(() => new URLSearchParams(search), [search])
}
