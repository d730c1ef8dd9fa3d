import './search-box.css'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ArrowLeft, Search } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useLocation, useRoute } from 'wouter'
import type { SearchResult } from '../api/index.ts'
import { fetchResults } from '../api/index.ts'
import { useShortcut } from '../commands/index.ts'
import { commentUrl, fileUrl, folderUrl, searchUrl } from '../navigation/index.ts'
import { useTexts } from '../texts/index.ts'
import { IconButton, useDebounced } from '../ui/index.ts'
import { SearchOption } from './search-option.tsx'

const SHOWN = 7
const TYPING_MS = 200

export function addressOf({ repo_id: id, fullpath, is_dir, comment }: SearchResult): string {
  if (comment !== undefined) return commentUrl(id, fullpath, comment.id)
  return is_dir ? folderUrl(id, fullpath) : fileUrl(id, fullpath)
}

/** Search as you type. `/` focuses it. On phones it opens over the top bar. */
export function SearchBox() {
  const texts = useTexts('search')
  const common = useTexts('common')
  const [, go] = useLocation()
  const [inLibrary, params] = useRoute('/library/:id')
  const field = useRef<HTMLInputElement>(null)
  const listId = useId()
  const [typed, setTyped] = useState('')
  const [open, setOpen] = useState(false)
  const [wide, setWide] = useState(false)
  const [active, setActive] = useState(-1)
  const words = useDebounced(typed.trim(), TYPING_MS)
  const { data, isFetching } = useQuery({
    queryKey: ['search', 'quick', words],
    queryFn: ({ signal }) => fetchResults({ q: words }, { perPage: SHOWN }, signal),
    enabled: open && words !== '',
    placeholderData: keepPreviousData,
  })
  useShortcut('search', () => {
    setWide(true)
    field.current?.focus()
    field.current?.select()
  })
  useEffect(() => {
    if (wide) field.current?.focus()
  }, [wide])

  const results = words === '' ? [] : (data?.results ?? [])
  const isShown = open && typed.trim() !== ''
  const places = [
    ...results.map(addressOf),
    searchUrl(typed.trim()),
    ...(inLibrary ? [`${searchUrl(typed.trim())}&in=${params['id'] ?? ''}`] : []),
  ]

  function leave(): void {
    setOpen(false)
    setWide(false)
    setActive(-1)
  }

  function visit(index: number): void {
    const place = places[index]
    if (place === undefined || typed.trim() === '') return
    leave()
    field.current?.blur()
    go(place)
  }

  function onKeyDown(event: KeyboardEvent): void {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }
    const step = steps[event.key]
    if (step !== undefined && isShown) {
      event.preventDefault()
      // One more position than options: the field itself.
      const count = places.length + 1
      setActive(((active + 1 + step + count) % count) - 1)
    } else if (event.key === 'Escape') {
      if (isShown) setOpen(false)
      else leave()
      setActive(-1)
    }
  }

  function submit(event: FormEvent): void {
    event.preventDefault()
    visit(active >= 0 ? active : results.length)
  }

  const option = (index: number) => ({
    id: `${listId}-${index}`,
    isActive: index === active,
    onPick: () => visit(index),
  })

  return (
    <search className={`search${wide ? ' search-wide' : ''}`}>
      <IconButton
        className="search-opener"
        label={texts.search}
        icon={Search}
        onClick={() => setWide(true)}
      />
      <form className="search-form" onSubmit={submit}>
        <IconButton className="search-leave" label={common.back} icon={ArrowLeft} onClick={leave} />
        <Search className="search-sign" size={18} aria-hidden />
        <input
          ref={field}
          className="search-field"
          type="search"
          role="combobox"
          aria-label={texts.search}
          aria-expanded={isShown}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={isShown && active >= 0 ? `${listId}-${active}` : undefined}
          aria-keyshortcuts="/"
          placeholder={texts.placeholder}
          autoComplete="off"
          enterKeyHint="search"
          maxLength={300}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
            setOpen(true)
            setActive(-1)
          }}
          onFocus={() => setOpen(true)}
          // Options never take the focus, so blur means that the user left.
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
        <kbd className="search-key" aria-hidden>
          /
        </kbd>
      </form>
      <div className="search-list" hidden={!isShown}>
        <div id={listId} role="listbox" aria-label={texts.results}>
          {results.map((result, index) => (
            <SearchOption
              key={`${result.comment?.id ?? ''}${result.repo_id}${result.fullpath}`}
              {...option(index)}
              result={result}
              typed={words}
            />
          ))}
          <SearchOption {...option(results.length)} label={texts.allFor} typed={typed.trim()} />
          {inLibrary && (
            <SearchOption {...option(results.length + 1)} label={texts.hereFor} typed={typed.trim()} />
          )}
        </div>
        {words !== '' && results.length === 0 && (
          <p className="search-none" role="status">
            {isFetching ? common.loading : texts.nothingQuick}
          </p>
        )}
      </div>
    </search>
  )
}
