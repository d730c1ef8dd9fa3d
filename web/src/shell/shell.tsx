import './shell.css'
import {
  Activity,
  House,
  Keyboard,
  Languages,
  Library,
  LogOut,
  Menu as MenuIcon,
  Monitor,
  Moon,
  Settings,
  Share2,
  Shield,
  Star,
  Sun,
  Trash2,
  Users,
  X,
} from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { NotificationBell } from '../activity/index.ts'
import { useAccount } from '../api/index.ts'
import { ArchiveTray } from '../archives/index.ts'
import { Commands, showCommands } from '../commands/index.ts'
import { SearchBox } from '../search/index.ts'
import { signOut } from '../session/index.ts'
import { siteUrl } from '../site-url.ts'
import { TaskTray } from '../tasks/index.ts'
import { type Language, languages, useFormats, useLanguage, useTexts } from '../texts/index.ts'
import { Avatar, chooseTheme, IconButton, Menu, type MenuEntry, Progress, useTheme } from '../ui/index.ts'
import { UploadTray } from '../uploads/index.ts'
import { useOnline, useReachable } from './online.ts'

/** Frame of every page: navigation, search, notifications and account menu. */
export function Shell(props: { children: ReactNode }) {
  const texts = useTexts('shell')
  const [location] = useLocation()
  const [menuOpen, setMenuOpen] = useState(false)
  const online = useOnline()
  const isReachable = useReachable()
  useEffect(() => setMenuOpen(false), [location])
  return (
    <div className={`shell${menuOpen ? ' shell-menu-open' : ''}`}>
      <a className="skip" href="#content">
        {texts.skip}
      </a>
      <header className="shell-top">
        <IconButton
          className="shell-menu-button"
          label={menuOpen ? texts.closeMenu : texts.openMenu}
          aria-expanded={menuOpen}
          aria-controls="shell-side"
          icon={menuOpen ? X : MenuIcon}
          onClick={() => setMenuOpen(!menuOpen)}
        />
        <Link to="/" className="brand" aria-label={texts.home}>
          <img src={siteUrl('pages/icon.svg').href} alt="" width={28} height={28} />
          <span>Carrel</span>
        </Link>
        <SearchBox />
        <span className="shell-top-end">
          <NotificationBell />
          <AccountMenu />
        </span>
      </header>
      <aside id="shell-side" className="shell-side">
        <Navigation />
        <Space />
      </aside>
      <button
        type="button"
        className="shell-veil"
        aria-label={texts.closeMenu}
        tabIndex={menuOpen ? 0 : -1}
        onClick={() => setMenuOpen(false)}
      />
      <main id="content" className="shell-content" tabIndex={-1}>
        {(!online || !isReachable) && (
          <p className="shell-offline" role="status">
            {online ? texts.serverUnreachable : texts.offline}
          </p>
        )}
        {props.children}
      </main>
      <div className="shell-trays">
        <TaskTray />
        <ArchiveTray />
        <UploadTray />
      </div>
      <Commands />
    </div>
  )
}

function Navigation() {
  const texts = useTexts('shell')
  const { data: account } = useAccount()
  const [location] = useLocation()
  const places = [
    { to: '/home', icon: House, label: texts.homePage },
    { to: '/links?tab=with-me', icon: Share2, label: texts.sharing, within: ['/links'] },
    { to: '/starred', icon: Star, label: texts.starred },
    { to: '/trash', icon: Trash2, label: texts.trash, within: ['/deleted'] },
    { to: '/', icon: Library, label: texts.libraries, within: ['/library', '/view', '/history', '/trash/'] },
    { to: '/activity', icon: Activity, label: texts.activity },
    { to: '/groups', icon: Users, label: texts.groups },
    ...(account?.is_staff ? [{ to: '/admin', icon: Shield, label: texts.administration }] : []),
  ]
  return (
    <nav aria-label={texts.navigation}>
      {places.map(({ to, icon: Icon, label, within = [] }) => {
        const here = location === to || (to !== '/' && to !== '/trash' && location.startsWith(`${to}/`))
        const current = here || within.some((start) => location.startsWith(start))
        return (
          <Link key={to} to={to} className="shell-place" aria-current={current ? 'page' : undefined}>
            <Icon size={19} aria-hidden />
            {label}
          </Link>
        )
      })}
    </nav>
  )
}

function Space() {
  const texts = useTexts('shell')
  const formats = useFormats()
  const { data: account } = useAccount()
  if (account === undefined) return null
  const used = formats.size(account.usage)
  if (account.total <= 0) return <p className="shell-space">{texts.used(used)}</p>
  const label = texts.usedOf(used, formats.size(account.total))
  return (
    <div className="shell-space">
      <Progress value={account.usage / account.total} label={label} />
      <span>{label}</span>
    </div>
  )
}

function AccountMenu() {
  const texts = useTexts('shell')
  const { data: account } = useAccount()
  const theme = useTheme()
  const { language, choose } = useLanguage()
  const [, go] = useLocation()
  const themes = [
    { value: 'system', icon: Monitor, label: texts.themeSystem },
    { value: 'light', icon: Sun, label: texts.themeLight },
    { value: 'dark', icon: Moon, label: texts.themeDark },
  ] as const
  const entries: MenuEntry[] = [
    { label: texts.account, icon: Settings, onSelect: () => go('/account') },
    { label: texts.shortcuts, icon: Keyboard, shortcut: '?', onSelect: () => showCommands('help') },
    'line',
    ...themes
      .filter(({ value }) => value !== theme)
      .map(({ value, icon, label }) => ({
        label: `${texts.theme}: ${label}`,
        icon,
        onSelect: () => chooseTheme(value),
      })),
    'line',
    ...(Object.entries(languages) as [Language, string][])
      .filter(([key]) => key !== language)
      .map(([key, label]) => ({ label, icon: Languages, onSelect: () => choose(key) })),
    'line',
    { label: texts.signOut, icon: LogOut, onSelect: () => void signOut() },
  ]
  return (
    <Menu
      title={account?.name}
      trigger={
        <button type="button" className="shell-account" aria-label={texts.account}>
          <Avatar email={account?.email ?? ''} name={account?.name} url={account?.avatar_url} size={32} />
        </button>
      }
      entries={entries}
    />
  )
}
