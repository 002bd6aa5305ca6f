//! What a super kernel will gain, predicted before it runs (`docs/cost-model.md`).
//!
//! | step | module |
//! |---|---|
//! | what things cost | [`prices`] |
//! | how long ops take | [`profile`] read, [`durations`] found for the ops and turned into [`work`] |
//! | the program played with times | [`play`] (code fetches: `code`; where time goes: [`account`]) |
//! | the ops as tasks of their own | `unfused` |
//! | both side by side | [`predict`] |
//! | prices from measured runs | [`calibrate`] (`least_squares`) |
//! | which options and cuts | [`tune`] |
//! | which ranges to mark | [`suggest`] |
//! | super kernels from op lists and graphs | [`inputs`] |
//! | a play as a picture | [`trace`] |
//! | all of it for a model | [`forecast`] |
//!
//! The program's own flags are played, by the launch model that also checks it, so options and forms count because the
//! program differs. Everything here is a prediction; nothing was measured on a device.

pub mod account;
pub mod calibrate;
mod code;
pub mod durations;
mod error;
pub mod forecast;
pub mod inputs;
mod least_squares;
pub mod play;
pub mod predict;
pub mod prices;
pub mod profile;
pub mod suggest;
pub(crate) mod trace;
pub mod tune;
mod unfused;
pub mod work;

pub(crate) use error::CostError;
pub(crate) use play::step_price;
