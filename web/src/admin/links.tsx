import { EllipsisVertical, ExternalLink, Link2, Trash2 } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import type { LinkKind } from '../api/index.ts'
import { type AdminLink, deleteAnyLink, useAdminLinks } from '../api/index.ts'
import { siteUrl } from '../site-url.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { ConfirmDialog, FileIcon, IconButton, Menu, TabList, useAction } from '../ui/index.ts'
import { Named, PagedTable } from './paged-table.tsx'

const kinds: readonly LinkKind[] = ['share', 'upload']

/** All links of the server. */
export function Links() {
  const sharing = useTexts('sharing')
  const texts = useTexts('admin')
  const [params, setParams] = useSearchParams()
  const current = params.get('show') === 'upload' ? 'upload' : 'share'
  return (
    <Tabs.Root
      className="stack"
      value={current}
      onValueChange={(show) => setParams(show === 'upload' ? { show } : {})}
    >
      <TabList
        label={texts.sections.links}
        names={kinds}
        labels={{ share: sharing.shareLinks, upload: sharing.uploadLinks }}
        current={current}
      />
      {kinds.map((kind) => (
        <Tabs.Content key={kind} value={kind} className="stack">
          <LinkList kind={kind} />
        </Tabs.Content>
      ))}
    </Tabs.Root>
  )
}

function LinkList(props: { kind: LinkKind }) {
  const { kind } = props
  const texts = useTexts('admin')
  const sharing = useTexts('sharing')
  const common = useTexts('common')
  const formats = useFormats()
  const links = useAdminLinks(kind)
  return (
    <PagedTable
      label={kind === 'share' ? sharing.shareLinks : sharing.uploadLinks}
      query={links}
      keyOf={({ token }) => token}
      empty={{ icon: Link2, title: texts.noLinks }}
      columns={[
        {
          head: common.name,
          cell: (link) => (
            <Named
              icon={<FileIcon name={link.obj_name} isDir={link.is_dir} />}
              name={nameOf(link)}
              title={`${link.repo_name}${link.path}`}
              about={<bdi>{`${link.repo_name}${link.path}`}</bdi>}
            />
          ),
        },
        { head: texts.madeBy, cell: ({ creator_name }) => <bdi>{creator_name}</bdi>, wide: true },
        { head: texts.made, cell: ({ ctime }) => formats.when(ctime), wide: true },
        {
          head: sharing.ends,
          cell: ({ expire_date, is_expired }) =>
            is_expired ? (
              <span className="badge badge-warn">{sharing.hasEnded}</span>
            ) : expire_date === '' ? (
              sharing.endsNever
            ) : (
              formats.date(expire_date)
            ),
          wide: true,
        },
        { head: texts.views, cell: ({ view_cnt }) => formats.number(view_cnt), end: true },
      ]}
      actions={(link) => <LinkMenu kind={kind} link={link} />}
    />
  )
}

const nameOf = ({ obj_name, repo_name }: AdminLink) => (obj_name === '/' ? repo_name : obj_name)

function LinkMenu(props: { kind: LinkKind; link: AdminLink }) {
  const { kind, link } = props
  const texts = useTexts('admin')
  const sharing = useTexts('sharing')
  const common = useTexts('common')
  const act = useAction('admin', 'links')
  const [deleting, setDeleting] = useState(false)
  const page = kind === 'upload' ? 'u/d' : link.is_dir ? 'd' : 'f'
  return (
    <>
      <Menu
        trigger={<IconButton label={texts.moreAbout(nameOf(link))} icon={EllipsisVertical} />}
        entries={[
          {
            label: common.open,
            icon: ExternalLink,
            onSelect: () => window.open(siteUrl(`${page}/${link.token}/`), '_blank', 'noopener'),
          },
          { label: common.delete, icon: Trash2, danger: true, onSelect: () => setDeleting(true) },
        ]}
      />
      {deleting && (
        <ConfirmDialog
          title={sharing.deleteLink}
          text={sharing.deleteLinkHint}
          submit={common.delete}
          onConfirm={() => act(() => deleteAnyLink(kind, link.token), sharing.linkDeleted)}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  )
}
