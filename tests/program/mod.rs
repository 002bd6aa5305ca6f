//! The device program: rules of the plan, and random programs played on the flag model.

mod agreement;
mod broken;
mod campaign;
mod cost;
mod explore;
mod forecast;
mod guards;
mod minimal;
mod mutants;
mod oracle;
mod orders;
mod proven;
mod random;
mod regions;
mod rules;
mod source;
mod text;
