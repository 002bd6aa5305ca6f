//! What a super kernel will gain, predicted before it runs (`docs/cost-model.md`).
//!
//! | step | module |
//! |---|---|
//! | what things cost | [`prices`] |
//! | how long ops take | [`work`] |
//! | the program played with times | [`play`] (code fetches: `code`; where time goes: [`account`]) |
//!
//! The program's own flags are played, by the launch model that also checks it, so options and forms count because the
//! program differs. Everything here is a prediction; nothing was measured on a device.

pub mod account;
mod code;
mod error;
pub mod play;
pub mod prices;
pub mod work;

pub use error::CostError;
