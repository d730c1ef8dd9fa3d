import './search-page.css'
import { useInfiniteQuery } from '@tanstack/react-query'
import { FileSearch, Search } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { fetchResults } from '../api/index.ts'
import { useQueryParams } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, Empty, LoadError, LoadMore, useTitle, Waiting } from '../ui/index.ts'
import { ResultRow } from './result-row.tsx'
import { SearchFilters } from './search-filters.tsx'
import { parseSearchQuery } from './search-query.ts'

const PER_PAGE = 30

/** All results with filters. The whole query is in the URL. */
export default function SearchPage() {
  const texts = useTexts('search')
  const query = useQueryParams()
  const [, go] = useLocation()
  const setQuery = (after: URLSearchParams) => go(`/search?${after}`, { replace: true })
  const words = query.get('q') ?? ''
  useTitle(words === '' ? texts.title : `${words} · ${texts.title}`)

  function set(name: string, value: string): void {
    const after = new URLSearchParams(query)
    if (value === '') after.delete(name)
    else after.set(name, value)
    // The folder filter belongs to the library.
    if (name === 'in') after.delete('p')
    setQuery(after)
  }

  return (
    <div className="page found">
      <div className="page-head">
        <h1>{texts.title}</h1>
      </div>
      <Words words={words} onChange={(value) => set('q', value)} />
      <SearchFilters query={query} onSet={set} />
      {words.trim() === '' && !query.get('tag') ? (
        <Empty icon={Search} title={texts.startTitle} hint={texts.startHint} />
      ) : (
        <Found query={query} onClear={() => setQuery(new URLSearchParams({ q: words }))} />
      )}
    </div>
  )
}

function Words(props: { words: string; onChange: (words: string) => void }) {
  const texts = useTexts('search')
  const [typed, setTyped] = useState(props.words)
  useEffect(() => setTyped(props.words), [props.words])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    props.onChange(typed.trim())
  }
  return (
    <form className="found-words" onSubmit={submit}>
      <input
        className="input"
        type="search"
        aria-label={texts.words}
        placeholder={texts.placeholder}
        maxLength={300}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <Button type="submit" variant="primary" icon={Search}>
        {texts.search}
      </Button>
    </form>
  )
}

function Found(props: { query: URLSearchParams; onClear: () => void }) {
  const texts = useTexts('search')
  const formats = useFormats()
  const request = parseSearchQuery(props.query, Date.now() / 1000)
  const found = useInfiniteQuery({
    queryKey: ['search', 'all', request],
    queryFn: ({ pageParam, signal }) => fetchResults(request, { page: pageParam, perPage: PER_PAGE }, signal),
    initialPageParam: 1,
    getNextPageParam: (last, pages) => (last.has_more ? pages.length + 1 : undefined),
  })
  if (found.isPending) return <Waiting />
  if (found.isError) return <LoadError error={found.error} onRetry={() => void found.refetch()} />
  const [first] = found.data.pages
  const total = first?.total ?? 0
  const isNarrowed = [...props.query.keys()].some((name) => name !== 'q')
  if (total === 0) {
    return (
      <Empty
        icon={FileSearch}
        title={texts.nothing}
        hint={isNarrowed ? texts.nothingNarrowed : texts.nothingHint}
      >
        {isNarrowed && <Button onClick={props.onClear}>{texts.clearFilters}</Button>}
      </Empty>
    )
  }
  return (
    <>
      <p className="muted" role="status">
        {first?.total_is_minimum
          ? texts.countMore(formats.number(total - 1))
          : texts.count(total, formats.number(total))}
      </p>
      <ul className="found-list">
        {found.data.pages.flatMap(({ results }) =>
          results.map((result) => (
            <ResultRow
              key={`${result.comment?.id ?? ''}${result.repo_id}${result.fullpath}`}
              result={result}
              typed={props.query.get('q') ?? ''}
            />
          )),
        )}
      </ul>
      {found.hasNextPage && (
        <LoadMore isBusy={found.isFetchingNextPage} onMore={() => void found.fetchNextPage()} />
      )}
    </>
  )
}
