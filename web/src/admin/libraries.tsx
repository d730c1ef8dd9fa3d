import {
  ArchiveRestore,
  ArrowRightLeft,
  EllipsisVertical,
  Flame,
  Library,
  Lock,
  LockOpen,
  PencilOff,
  Trash2,
} from 'lucide-react'
import { Tabs } from 'radix-ui'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import type { Person } from '../api/index.ts'
import {
  type AdminDeletedLibrary,
  type AdminLibrary,
  changeAnyLibrary,
  deleteAnyLibrary,
  purgeAll,
  purgeAnyLibrary,
  restoreAnyLibrary,
  useAdminDeletedLibraries,
  useAdminLibraries,
} from '../api/index.ts'
import { PeopleField } from '../sharing/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  Button,
  ConfirmDialog,
  FormDialog,
  IconButton,
  Menu,
  SearchField,
  TabList,
  useAction,
  useDebounced,
} from '../ui/index.ts'
import { Named, PagedTable } from './paged-table.tsx'

const states = ['all', 'deleted'] as const

/** All libraries of the server, including deleted ones. */
export function Libraries() {
  const texts = useTexts('admin')
  const [params, setParams] = useSearchParams()
  const current = params.get('show') === 'deleted' ? 'deleted' : 'all'
  return (
    <Tabs.Root
      className="stack"
      value={current}
      onValueChange={(show) => setParams(show === 'deleted' ? { show } : {})}
    >
      <TabList
        label={texts.sections.libraries}
        names={states}
        labels={{ all: texts.present, deleted: texts.deleted }}
        current={current}
      />
      <Tabs.Content value="all" className="stack">
        <Present />
      </Tabs.Content>
      <Tabs.Content value="deleted" className="stack">
        <Deleted />
      </Tabs.Content>
    </Tabs.Root>
  )
}

function Present() {
  const texts = useTexts('admin')
  const common = useTexts('common')
  const formats = useFormats()
  const [typed, setTyped] = useState('')
  const libraries = useAdminLibraries(useDebounced(typed.trim()))
  return (
    <>
      <SearchField label={texts.findLibraries} value={typed} onChange={setTyped} />
      <PagedTable
        label={texts.sections.libraries}
        query={libraries}
        keyOf={({ id }) => id}
        empty={{ icon: Library, title: texts.noLibraries }}
        columns={[
          {
            head: common.name,
            cell: (library) => (
              <Named
                icon={
                  library.encrypted ? (
                    <Lock size={18} aria-label={texts.encrypted} />
                  ) : (
                    <Library size={18} aria-hidden />
                  )
                }
                name={library.name}
                title={library.name}
                about={<bdi>{library.owner}</bdi>}
                badge={library.status === 'read-only' ? texts.readOnly : undefined}
              />
            ),
          },
          {
            head: texts.files,
            cell: ({ file_count }) => formats.number(file_count),
            wide: true,
            end: true,
          },
          {
            head: texts.fileSize,
            hint: texts.fileSizeHint,
            cell: ({ size }) => formats.size(size),
            end: true,
          },
          { head: common.modified, cell: (library) => formats.when(library.last_modified), wide: true },
        ]}
        actions={(library) => <LibraryMenu library={library} />}
      />
    </>
  )
}

function LibraryMenu(props: { library: AdminLibrary }) {
  const { library } = props
  const texts = useTexts('admin')
  const common = useTexts('common')
  const act = useAction('admin', 'libraries')
  const [asked, setAsked] = useState<'transfer' | 'delete'>()
  const close = () => setAsked(undefined)
  const isReadOnly = library.status === 'read-only'
  const turn = () =>
    void act(
      () => changeAnyLibrary(library.id, { status: isReadOnly ? 'normal' : 'read-only' }),
      isReadOnly ? texts.nowWritable(library.name) : texts.nowReadOnly(library.name),
    )
  return (
    <>
      <Menu
        trigger={<IconButton label={texts.moreAbout(library.name)} icon={EllipsisVertical} />}
        entries={[
          { label: texts.transfer, icon: ArrowRightLeft, onSelect: () => setAsked('transfer') },
          {
            label: isReadOnly ? texts.makeWritable : texts.makeReadOnly,
            icon: isReadOnly ? LockOpen : PencilOff,
            onSelect: turn,
          },
          'line',
          { label: common.delete, icon: Trash2, danger: true, onSelect: () => setAsked('delete') },
        ]}
      />
      {asked === 'transfer' && <Transfer library={library} onClose={close} />}
      {asked === 'delete' && (
        <ConfirmDialog
          title={texts.deleteLibrary}
          text={texts.deleteLibraryHint(library.name)}
          submit={common.delete}
          onConfirm={() => act(() => deleteAnyLibrary(library.id), texts.libraryDeleted(library.name))}
          onClose={close}
        />
      )}
    </>
  )
}

function Transfer(props: { library: AdminLibrary; onClose: () => void }) {
  const { library } = props
  const texts = useTexts('admin')
  const refresh = useAction('admin', 'libraries')
  const [people, setPeople] = useState<readonly Person[]>([])
  const [person] = people
  return (
    <FormDialog
      title={texts.transfer}
      submit={texts.transfer}
      disabled={person === undefined}
      onSubmit={async () => {
        if (person) await changeAnyLibrary(library.id, { owner: person.email })
        void refresh(async () => {})
      }}
      onClose={props.onClose}
    >
      <p className="muted">{texts.transferHint(library.name)}</p>
      <PeopleField
        single
        label={texts.newOwner}
        chosen={people}
        onChange={setPeople}
        without={[library.owner]}
      />
    </FormDialog>
  )
}

function Deleted() {
  const texts = useTexts('admin')
  const common = useTexts('common')
  const formats = useFormats()
  const libraries = useAdminDeletedLibraries()
  const act = useAction('admin', 'libraries')
  const [purging, setPurging] = useState<AdminDeletedLibrary | 'all'>()
  const some = (libraries.data?.pages[0]?.items.length ?? 0) > 0
  return (
    <>
      {some && (
        <div className="sharing-tools sharing-tools-end">
          <Button icon={Flame} onClick={() => setPurging('all')}>
            {texts.purgeAll}
          </Button>
        </div>
      )}
      <PagedTable
        label={texts.deleted}
        query={libraries}
        keyOf={({ id }) => id}
        empty={{ icon: Trash2, title: texts.noDeleted, hint: texts.noDeletedHint }}
        columns={[
          {
            head: common.name,
            cell: ({ name, owner }) => <Named name={name} title={name} about={<bdi>{owner}</bdi>} />,
          },
          { head: texts.deletedAt, cell: ({ delete_time }) => formats.when(delete_time), wide: true },
        ]}
        actions={(library) => (
          <Menu
            trigger={<IconButton label={texts.moreAbout(library.name)} icon={EllipsisVertical} />}
            entries={[
              {
                label: common.restore,
                icon: ArchiveRestore,
                onSelect: () => void act(() => restoreAnyLibrary(library.id), texts.restored(library.name)),
              },
              { label: texts.purge, icon: Flame, danger: true, onSelect: () => setPurging(library) },
            ]}
          />
        )}
      />
      {purging && (
        <ConfirmDialog
          title={purging === 'all' ? texts.purgeAll : texts.purge}
          text={purging === 'all' ? texts.purgeAllHint : texts.purgeHint(purging.name)}
          submit={texts.purge}
          onConfirm={() =>
            act(() => (purging === 'all' ? purgeAll() : purgeAnyLibrary(purging.id)), texts.purged)
          }
          onClose={() => setPurging(undefined)}
        />
      )}
    </>
  )
}
