"""Professions, many of which are words, names or other people of the ward besides."""

from __future__ import annotations

__all__ = ["PROFESSIONS"]

_LIST = """
carpenter;school teacher;truck driver;nurse;accountant;bus driver;cook;chef;farmer;fisherman;plumber;electrician;lawyer;
police officer;firefighter;machinist;janitor;secretary;librarian;hairdresser;waitress;bartender;mail carrier;painter;
roofer;welder;mason;miner;pilot;flight attendant;software engineer;civil engineer;architect;social worker;pharmacist;
dentist;surgeon;psychologist;professor of history;graduate student;bank teller;cashier;insurance agent;real estate
agent; security guard;dog groomer;veterinarian;seamstress;tailor;baker;butcher;barber;musician;piano
tuner;singer;writer; journalist;photographer;priest;minister;rabbi;judge;soldier;sailor;marine
biologist;chemist;physicist;paralegal; home health aide;nursing assistant;radiology technician;paramedic;crane
operator;forklift operator;auto mechanic; furniture maker;landscaper;florist;shipyard worker;steel worker;textile
worker;factory worker;postal clerk;tax collector; travel agent;interpreter;translator;speech therapist;gym
teacher;swim coach;football coach;bookkeeper;dispatcher; stonecutter;glazier;upholsterer;beekeeper;dairy farmer;tree
surgeon;taxi driver;train conductor;sales manager
"""
PROFESSIONS = tuple(" ".join(name.split()) for name in _LIST.split(";"))
