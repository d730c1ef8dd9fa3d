import './libraries.css'
import { Plus, SearchX } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'wouter'
import { type LibraryItem, useLibraries } from '../api/index.ts'
import { useLanguage, useTexts } from '../texts/index.ts'
import { Button, Empty, LoadError, SearchField, TabNav, useTitle, Waiting } from '../ui/index.ts'
import { EmptyList } from './empty-list.tsx'
import { LibraryDialogs, type OpenDialog } from './library-dialogs.tsx'
import { LibraryDrop } from './library-drop.tsx'
import { matching, sectionsOf } from './library-sections.ts'
import { LibraryTable } from './library-table.tsx'
import { type LibraryTab, libraryTabs } from './library-tabs.ts'
import { NewLibraryDialog } from './new-library-dialog.tsx'
import { SortSelect } from './sort-select.tsx'
import { sorted, useOrder } from './sorting.ts'

/** All libraries of the user, in tabs. */
export default function LibrariesPage() {
  const texts = useTexts('libraries')
  useTitle(texts.title)
  const { data, error, refetch } = useLibraries()
  const [params] = useSearchParams()
  const tab = libraryTabs.find((one) => one === params.get('show')) ?? 'mine'
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
        <Tabs tab={tab} found={found} />
        {data === undefined &&
          (error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />)}
        {data !== undefined && (
          <List
            tab={tab}
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

function Tabs(props: { tab: LibraryTab; found: readonly LibraryItem[] }) {
  const texts = useTexts('libraries')
  const labels = { mine: texts.mine, shared: texts.shared, group: texts.groups, public: texts.everyone }
  return (
    <TabNav
      label={texts.tabs}
      names={libraryTabs}
      current={props.tab}
      addressOf={(tab) => (tab === 'mine' ? '/' : `/?show=${tab}`)}
    >
      {(tab) => {
        const count = props.found.filter(({ type }) => type === tab).length
        return (
          <>
            {labels[tab]} {count > 0 && <span className="libraries-count">{count}</span>}
          </>
        )
      }}
    </TabNav>
  )
}

function List(props: {
  tab: LibraryTab
  all: readonly LibraryItem[]
  found: readonly LibraryItem[]
  part: string
  onPart: (part: string) => void
  onMake: () => void
}) {
  const { tab, part } = props
  const texts = useTexts('libraries')
  const { language } = useLanguage()
  const [order, setOrder] = useOrder()
  const [dialog, setDialog] = useState<OpenDialog>()
  if (!props.all.some(({ type }) => type === tab)) return <EmptyList tab={tab} onMake={props.onMake} />
  const shown = sorted(
    props.found.filter(({ type }) => type === tab),
    order,
    language,
  )
  return (
    <>
      <div className="libraries-tools">
        <SearchField label={texts.filter} value={part} onChange={props.onPart} />
        <SortSelect order={order} onChange={setOrder} />
        <span className="visually-hidden" role="status">
          {texts.count(shown.length)}
        </span>
      </div>
      {shown.length === 0 && <Empty icon={SearchX} title={texts.noMatch} hint={texts.noMatchHint} />}
      {sectionsOf(tab, shown).map(({ key, title, libraries }) => (
        <section key={key} className="libraries-section">
          {title !== undefined && <h2>{title}</h2>}
          <LibraryTable
            tab={tab}
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
