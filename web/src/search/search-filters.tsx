import { useQueries } from '@tanstack/react-query'
import { SlidersHorizontal } from 'lucide-react'
import { useEffect, useState } from 'react'
import { libraryTagsQuery, useLibraries } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { CheckField, NARROW, SelectField, TextField, useDebounced, useMedia } from '../ui/index.ts'
import { kinds, type SearchSize, type SearchTime, scopes, sizes, times } from './search-query.ts'

/** Bounds the requests. */
const MAX_TAGGED_LIBRARIES = 20

/** Filters of the search page. */
export function SearchFilters(props: {
  query: URLSearchParams
  onSet: (name: string, value: string) => void
}) {
  const { query, onSet } = props
  const texts = useTexts('search')
  const chosen = (name: string) => ({
    value: query.get(name) ?? '',
    onChange: (event: { target: { value: string } }) => onSet(name, event.target.value),
  })
  const fields = (
    <div className="found-filters">
      <Place {...chosen('in')} />
      <SelectField label={texts.kind} {...chosen('kind')}>
        <option value="">{texts.anyKind}</option>
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {texts.kinds[kind]}
          </option>
        ))}
      </SelectField>
      <SelectField label={texts.time} {...chosen('time')}>
        <option value="">{texts.anyTime}</option>
        {(Object.keys(times) as SearchTime[]).map((time) => (
          <option key={time} value={time}>
            {texts.times[time]}
          </option>
        ))}
      </SelectField>
      <SelectField label={texts.size} {...chosen('size')}>
        <option value="">{texts.anySize}</option>
        {(Object.keys(sizes) as SearchSize[]).map((size) => (
          <option key={size} value={size}>
            {texts.sizes[size]}
          </option>
        ))}
      </SelectField>
      <TagFilter place={query.get('in') ?? ''} {...chosen('tag')} />
      <Extensions value={query.get('ext') ?? ''} onChange={(value) => onSet('ext', value)} />
      <CheckField
        label={texts.namesOnly}
        checked={query.get('names') === '1'}
        onChange={(event) => onSet('names', event.target.checked ? '1' : '')}
      />
    </div>
  )
  const isNarrow = useMedia(NARROW)
  if (!isNarrow) return fields
  // Collapsed on narrow screens, so that results come first.
  const set = [...query.keys()].filter((name) => name !== 'q' && name !== 'p').length
  return (
    <details className="found-more">
      <summary>
        <SlidersHorizontal size={17} aria-hidden />
        {texts.filters(set)}
      </summary>
      {fields}
    </details>
  )
}

function Place(props: { value: string; onChange: (event: { target: { value: string } }) => void }) {
  const texts = useTexts('search')
  const { data: libraries = [] } = useLibraries()
  // A library that is shared in several ways is listed once.
  const named = new Map(libraries.map(({ repo_id: id, repo_name: name }) => [id, name]))
  return (
    <SelectField label={texts.place} {...props}>
      <option value="">{texts.everywhere}</option>
      {scopes.map((scope) => (
        <option key={scope} value={scope}>
          {texts.scopes[scope]}
        </option>
      ))}
      <optgroup label={texts.libraries}>
        {[...named].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </optgroup>
    </SelectField>
  )
}

/** The tags of the libraries that are searched. Nothing if they have none. */
function TagFilter(props: {
  place: string
  value: string
  onChange: (event: { target: { value: string } }) => void
}) {
  const { place, value, onChange } = props
  const texts = useTexts('search')
  const { data: libraries = [] } = useLibraries()
  const ids = [
    ...new Set(libraries.filter(({ encrypted }) => !encrypted).map(({ repo_id: id }) => id)),
  ].filter((id) => place.length !== 36 || id === place)
  const tags = useQueries({
    queries: ids.slice(0, MAX_TAGGED_LIBRARIES).map((id) => ({ ...libraryTagsQuery(id), staleTime: 60_000 })),
    combine: (found) => found.flatMap(({ data = [] }) => data.map((tag) => tag.tag_name)),
  })
  // Libraries may have tags of one name, which are searched together. A tag of the URL is shown in any case.
  const named = new Map([...(value === '' ? [] : [value]), ...tags].map((name) => [name.toLowerCase(), name]))
  if (named.size === 0) return null
  const chosen = named.get(value.toLowerCase()) ?? ''
  return (
    <SelectField label={texts.tag} value={chosen} onChange={onChange}>
      <option value="">{texts.anyTag}</option>
      {[...named.values()]
        .toSorted((a, b) => a.localeCompare(b))
        .map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
    </SelectField>
  )
}

function Extensions(props: { value: string; onChange: (value: string) => void }) {
  const texts = useTexts('search')
  const { value, onChange } = props
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  const settled = useDebounced(typed.trim(), 400)
  useEffect(() => {
    if (settled === typed.trim() && settled !== value) onChange(settled)
    // Reports only what the user typed, not the value of the URL.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [settled])
  return (
    <TextField
      label={texts.extensions}
      placeholder={texts.extensionsHint}
      maxLength={100}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
    />
  )
}
