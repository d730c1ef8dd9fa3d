export { Onboarding, SetupSection, TestMail } from './lazy.ts'
