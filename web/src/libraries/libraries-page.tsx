import './libraries.css'
import { Plus, SearchX } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'wouter'
import { type LibraryItem, useLibraries } from '../api/libraries.ts'
import { useLanguage, useTexts } from '../texts/texts.tsx'
import { Button } from '../ui/button.tsx'
import { Failed } from '../ui/failed.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Empty, Waiting } from '../ui/states.tsx'
import { TabNav } from '../ui/tab-nav.tsx'
import { useTitle } from '../ui/title.ts'
import { LibraryDialogs, type OpenDialog } from './library-dialogs.tsx'
import { LibraryDrop } from './library-drop.tsx'
import { LibraryTable } from './library-table.tsx'
import { NewLibraryDialog } from './new-library-dialog.tsx'
import { NothingHere } from './nothing-here.tsx'
import { sorted, useOrder } from './order.ts'
import { OrderSelect } from './order-select.tsx'
import { type Way, ways } from './ways.ts'

/** All libraries one can open, by how one came to them. */
export default function LibrariesPage() {
  const texts = useTexts('libraries')
  useTitle(texts.title)
  const { data, error, refetch } = useLibraries()
  const [params] = useSearchParams()
  const way = ways.find((one) => one === params.get('show')) ?? 'mine'
  const [part, setPart] = useState('')
  const [isMaking, setMaking] = useState(false)
  const found = useMemo(() => matching(data ?? [], part), [data, part])
  return (
    <LibraryDrop libraries={data}>
      <div className="page">
        <div className="page-head">
          <h1>{texts.title}</h1>
          <Button variant="primary" icon={Plus} onClick={() => setMaking(true)}>
            {texts.newLibrary}
          </Button>
        </div>
        <Tabs way={way} found={found} />
        {data === undefined &&
          (error ? <Failed error={error} onRetry={() => void refetch()} /> : <Waiting />)}
        {data !== undefined && (
          <List
            way={way}
            all={data}
            found={found}
            part={part}
            onPart={setPart}
            onMake={() => setMaking(true)}
          />
        )}
        {isMaking && <NewLibraryDialog onClose={() => setMaking(false)} />}
      </div>
    </LibraryDrop>
  )
}

function Tabs(props: { way: Way; found: readonly LibraryItem[] }) {
  const texts = useTexts('libraries')
  const labels = { mine: texts.mine, shared: texts.shared, group: texts.groups, public: texts.everyone }
  return (
    <TabNav
      label={texts.ways}
      names={ways}
      current={props.way}
      addressOf={(way) => (way === 'mine' ? '/' : `/?show=${way}`)}
    >
      {(way) => {
        const count = props.found.filter(({ type }) => type === way).length
        return (
          <>
            {labels[way]} {count > 0 && <span className="libraries-count">{count}</span>}
          </>
        )
      }}
    </TabNav>
  )
}

function List(props: {
  way: Way
  all: readonly LibraryItem[]
  found: readonly LibraryItem[]
  part: string
  onPart: (part: string) => void
  onMake: () => void
}) {
  const { way, part } = props
  const texts = useTexts('libraries')
  const { language } = useLanguage()
  const [order, setOrder] = useOrder()
  const [dialog, setDialog] = useState<OpenDialog>()
  if (!props.all.some(({ type }) => type === way)) return <NothingHere way={way} onMake={props.onMake} />
  const shown = sorted(
    props.found.filter(({ type }) => type === way),
    order,
    language,
  )
  return (
    <>
      <div className="libraries-tools">
        <SearchField label={texts.filter} value={part} onChange={props.onPart} />
        <OrderSelect order={order} onChange={setOrder} />
        <span className="visually-hidden" role="status">
          {texts.count(shown.length)}
        </span>
      </div>
      {shown.length === 0 && <Empty icon={SearchX} title={texts.noMatch} hint={texts.noMatchHint} />}
      {sectionsOf(way, shown).map(({ key, title, libraries }) => (
        <section key={key} className="libraries-section">
          {title !== undefined && <h2>{title}</h2>}
          <LibraryTable
            way={way}
            label={title ?? texts.list}
            libraries={libraries}
            order={order}
            onOrder={setOrder}
            onOpenDialog={setDialog}
          />
        </section>
      ))}
      {dialog && <LibraryDialogs {...dialog} onClose={() => setDialog(undefined)} />}
    </>
  )
}

interface Section {
  readonly key: number
  readonly title: string | undefined
  readonly libraries: readonly LibraryItem[]
}

/** One list, or one for each group. */
function sectionsOf(way: Way, libraries: readonly LibraryItem[]): readonly Section[] {
  if (libraries.length === 0) return []
  if (way !== 'group') return [{ key: 0, title: undefined, libraries }]
  const groups = Map.groupBy(libraries, ({ group_id }) => group_id ?? 0)
  return [...groups]
    .map(([key, libraries]) => ({ key, title: libraries[0]?.group_name ?? '', libraries }))
    .toSorted((a, b) => a.title.localeCompare(b.title))
}

function matching(libraries: readonly LibraryItem[], part: string): readonly LibraryItem[] {
  const wanted = part.normalize().trim().toLowerCase()
  if (wanted === '') return libraries
  return libraries.filter(({ repo_name }) => repo_name.normalize().toLowerCase().includes(wanted))
}
