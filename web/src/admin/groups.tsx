import { useQueryClient } from '@tanstack/react-query'
import { Crown, EllipsisVertical, Pencil, Trash2, Users as UsersIcon, X } from 'lucide-react'
import { useState } from 'react'
import type { Person } from '../api/index.ts'
import {
  type AdminGroup,
  addAnyMembers,
  changeAnyGroup,
  deleteAnyGroup,
  removeAnyMember,
  useAdminGroups,
  useAnyMembers,
} from '../api/index.ts'
import { HandOverGroup, MemberList, PeopleField, RenameGroup } from '../sharing/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  Button,
  ConfirmDialog,
  Dialog,
  IconButton,
  LoadError,
  Menu,
  SearchField,
  useAction,
  useDebounced,
  Waiting,
} from '../ui/index.ts'
import { Named, PagedTable } from './paged-table.tsx'

/** All groups of the server. */
export function Groups() {
  const texts = useTexts('admin')
  const common = useTexts('common')
  const formats = useFormats()
  const [typed, setTyped] = useState('')
  const groups = useAdminGroups(useDebounced(typed.trim()))
  return (
    <>
      <SearchField label={texts.findGroups} value={typed} onChange={setTyped} />
      <PagedTable
        label={texts.sections.groups}
        query={groups}
        keyOf={({ id }) => id}
        empty={{ icon: UsersIcon, title: texts.noGroups }}
        columns={[
          {
            head: common.name,
            cell: ({ name, owner }) => <Named name={name} title={name} about={<bdi>{owner}</bdi>} />,
          },
          { head: texts.made, cell: ({ created_at }) => formats.date(created_at), wide: true },
          { head: texts.sharedSize, cell: ({ size }) => formats.size(size), end: true },
        ]}
        actions={(group) => <GroupMenu group={group} />}
      />
    </>
  )
}

function GroupMenu(props: { group: AdminGroup }) {
  const { group } = props
  const texts = useTexts('admin')
  const sharing = useTexts('sharing')
  const common = useTexts('common')
  const act = useAction('admin', 'groups')
  const queries = useQueryClient()
  const [asked, setAsked] = useState<'members' | 'rename' | 'hand-over' | 'delete'>()
  const close = () => setAsked(undefined)
  /** The dialog shows errors. */
  async function change(to: Parameters<typeof changeAnyGroup>[1]): Promise<void> {
    await changeAnyGroup(group.id, to)
    await queries.invalidateQueries({ queryKey: ['admin', 'groups'] })
  }
  return (
    <>
      <Menu
        trigger={<IconButton label={texts.moreAbout(group.name)} icon={EllipsisVertical} />}
        entries={[
          { label: sharing.members, icon: UsersIcon, onSelect: () => setAsked('members') },
          { label: common.rename, icon: Pencil, onSelect: () => setAsked('rename') },
          { label: sharing.handOver, icon: Crown, onSelect: () => setAsked('hand-over') },
          'line',
          { label: common.delete, icon: Trash2, danger: true, onSelect: () => setAsked('delete') },
        ]}
      />
      {asked === 'members' && <Members group={group} onClose={close} />}
      {asked === 'rename' && (
        <RenameGroup name={group.name} onRename={(name) => change({ new_name: name })} onClose={close} />
      )}
      {asked === 'hand-over' && (
        <HandOverGroup
          owner={group.owner}
          onHandOver={(email) => change({ new_owner: email })}
          onClose={close}
        />
      )}
      {asked === 'delete' && (
        <ConfirmDialog
          title={sharing.deleteGroup}
          text={sharing.deleteGroupHint}
          submit={common.delete}
          onConfirm={() => act(() => deleteAnyGroup(group.id), sharing.groupDeleted)}
          onClose={close}
        />
      )}
    </>
  )
}

function Members(props: { group: AdminGroup; onClose: () => void }) {
  const { group } = props
  const texts = useTexts('admin')
  const sharing = useTexts('sharing')
  const members = useAnyMembers(group.id)
  const act = useAction('admin', 'groups')
  const [people, setPeople] = useState<readonly Person[]>([])
  const emails = people.map(({ email }) => email)
  async function add(): Promise<void> {
    await act(async () => {
      const { failed } = await addAnyMembers(group.id, emails)
      setPeople([])
      if (failed.length > 0) throw new Error(failed.map(({ error_msg }) => error_msg).join(' '))
    })
  }
  return (
    <Dialog title={<bdi>{group.name}</bdi>} onClose={props.onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <PeopleField
          label={sharing.addMembers}
          chosen={people}
          onChange={setPeople}
          without={members.data?.map(({ email }) => email) ?? []}
        />
        {people.length > 0 && (
          <Button type="submit" variant="primary">
            {sharing.addMembers}
          </Button>
        )}
      </form>
      {members.isPending && <Waiting />}
      {members.isError && <LoadError error={members.error} onRetry={() => void members.refetch()} />}
      <MemberList
        members={members.data ?? []}
        actions={({ email, name, role }) =>
          role !== 'Owner' && (
            <IconButton
              label={texts.removeMember(name)}
              icon={X}
              onClick={() => void act(() => removeAnyMember(group.id, email))}
            />
          )
        }
      />
    </Dialog>
  )
}
