import { LayoutGrid, List, SearchX } from 'lucide-react'
import { Suspense, useMemo, useState } from 'react'
import { type LibraryItem, useAccessSummary, useSharedOut } from '../api/index.ts'
import { matching, sectionsOf } from '../files/index.ts'
import { useLanguage, useTexts } from '../texts/index.ts'
import { Empty, IconButton, SearchField } from '../ui/index.ts'
import { LazyLibraryDialogs } from './lazy.ts'
import { LibraryCards } from './library-card.tsx'
import type { OpenDialog } from './library-dialogs.tsx'
import { LibraryTable } from './library-table.tsx'
import { SortSelect } from './sort-select.tsx'
import { sorted, useOrder } from './sorting.ts'

const VIEW = 'carrel.libraries.view'

/** Libraries in sections, as cards or as a list, with a filter and a sort order. */
export function LibraryLists(props: { libraries: readonly LibraryItem[] }) {
  const { libraries } = props
  const texts = useTexts('libraries')
  const { language } = useLanguage()
  const [part, setPart] = useState('')
  const [order, setOrder] = useOrder()
  const [dialog, setDialog] = useState<OpenDialog>()
  const [asList, setAsList] = useState(() => localStorage.getItem(VIEW) === 'list')
  const hasOwn = libraries.some(({ type }) => type === 'mine')
  const { data: shares } = useSharedOut(hasOwn)
  const { data: access } = useAccessSummary(hasOwn)
  const sharesOf = useMemo(
    () =>
      Map.groupBy(
        (shares ?? []).filter(({ path }) => path === undefined),
        ({ repo_id }) => repo_id,
      ),
    [shares],
  )
  const shown = sorted(matching(libraries, part), order, language)
  function choose(list: boolean): void {
    localStorage.setItem(VIEW, list ? 'list' : 'cards')
    setAsList(list)
  }
  return (
    <>
      <div className="libraries-tools">
        <SearchField label={texts.filter} value={part} onChange={setPart} />
        <SortSelect order={order} onChange={setOrder} />
        <IconButton
          label={asList ? texts.asCards : texts.asList}
          icon={asList ? LayoutGrid : List}
          onClick={() => choose(!asList)}
        />
        <span className="visually-hidden" role="status">
          {texts.count(shown.length)}
        </span>
      </div>
      {shown.length === 0 && <Empty icon={SearchX} title={texts.noMatch} hint={texts.noMatchHint} />}
      {sectionsOf(shown, { people: texts.people, everyone: texts.everyone }).map((section) => {
        const label = section.title ?? texts.list
        return (
          <section key={section.key} className="libraries-section">
            {section.title !== undefined && <h2>{section.title}</h2>}
            {asList ? (
              <LibraryTable
                type={section.type}
                label={label}
                libraries={section.libraries}
                order={order}
                onOrder={setOrder}
                onOpenDialog={setDialog}
              />
            ) : (
              <LibraryCards
                label={label}
                libraries={section.libraries}
                shares={sharesOf}
                access={access}
                onOpenDialog={setDialog}
              />
            )}
          </section>
        )
      })}
      {dialog && (
        <Suspense>
          <LazyLibraryDialogs {...dialog} onClose={() => setDialog(undefined)} />
        </Suspense>
      )}
    </>
  )
}
